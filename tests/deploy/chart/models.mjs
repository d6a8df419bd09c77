// Validates Kubernetes objects against the models of npm's kubernetes-models, keda and prometheus-operator.
//
// The models accept keys that they do not know. So a validator is given objects that write down which keys it looks at: a key
// of an object that was never looked at is one that the schema lacks.

import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const PACKAGES = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', 'node_modules');

const SCHEMAS = {
  'v1 ConfigMap': 'kubernetes-models/_schemas/IoK8sApiCoreV1ConfigMap.js',
  'v1 Service': 'kubernetes-models/_schemas/IoK8sApiCoreV1Service.js',
  'apps/v1 Deployment': 'kubernetes-models/_schemas/IoK8sApiAppsV1Deployment.js',
  'apps/v1 StatefulSet': 'kubernetes-models/_schemas/IoK8sApiAppsV1StatefulSet.js',
  'policy/v1 PodDisruptionBudget': 'kubernetes-models/_schemas/IoK8sApiPolicyV1PodDisruptionBudget.js',
  'networking.k8s.io/v1 NetworkPolicy': 'kubernetes-models/_schemas/IoK8sApiNetworkingV1NetworkPolicy.js',
  'keda.sh/v1alpha1 ScaledObject': '@kubernetes-models/keda/_schemas/KedaShV1alpha1ScaledObject.js',
  'monitoring.coreos.com/v1 ServiceMonitor':
    '@kubernetes-models/prometheus-operator/_schemas/MonitoringCoreosComV1ServiceMonitor.js',
  'monitoring.coreos.com/v1 PrometheusRule':
    '@kubernetes-models/prometheus-operator/_schemas/MonitoringCoreosComV1PrometheusRule.js',
};

// `value` as a validator sees it; what it looks at is noted in `watched`, one entry for each object below `value`.
function watch(value, where, watched) {
  if (value === null || typeof value !== 'object') return value;
  const seen = new Set();
  const children = new Map();
  watched.push({ where, keys: Array.isArray(value) ? [] : Object.keys(value), seen });
  return new Proxy(value, {
    get(target, key) {
      seen.add(key);
      const child = target[key];
      if (child === null || typeof child !== 'object') return child;
      if (!children.has(key)) children.set(key, watch(child, `${where}/${String(key)}`, watched));
      return children.get(key);
    },
    // Whoever lists the keys takes any.
    ownKeys(target) {
      Object.keys(target).forEach((key) => seen.add(key));
      return Reflect.ownKeys(target);
    },
  });
}

export function invalid(object) {
  const schema = SCHEMAS[`${object.apiVersion} ${object.kind}`];
  if (schema === undefined) return [`no model of ${object.apiVersion} ${object.kind} is known`];
  const { validate } = require(path.join(PACKAGES, schema));
  if (validate(object)) return [];
  return validate.errors.map((error) => `${error.instancePath || '/'} ${error.message}`);
}

export function unknownKeys(object) {
  const schema = SCHEMAS[`${object.apiVersion} ${object.kind}`];
  if (schema === undefined) return [];  // as invalid() says
  const watched = [];
  const { validate } = require(path.join(PACKAGES, schema));
  validate(watch(object, '', watched));
  return watched.flatMap(({ where, keys, seen }) =>
    keys.filter((key) => !seen.has(key)).map((key) => `${where}/${key} is not in the schema`));
}
