// Mistakes to plant in a rendering: which check must find it, and how it is made. `plant` changes the objects, or returns false
// where the rendering has nothing to plant it in.

const one = (objects, ...kinds) => objects.find(({ kind }) => kinds.includes(kind));
const workload = (objects) => one(objects, 'Deployment', 'StatefulSet');
const pod = (objects) => workload(objects).spec.template.spec;
const container = (objects) => pod(objects).containers[0];
const named = (objects, kind, end) => objects.find((object) => object.kind === kind && object.metadata.name.endsWith(end));

// Plants with `change` in the first object of the kind, if there is one.
function inKind(kind, change) {
  return (objects) => {
    const object = one(objects, kind);
    if (object === undefined) return false;
    change(object);
    return true;
  };
}

function inVolume(name, change) {
  return (objects) => {
    const volume = pod(objects).volumes.find((candidate) => candidate.name === name);
    if (volume === undefined) return false;
    change(volume);
    return true;
  };
}

function replaceInConfig(objects, from, to) {
  const map = objects.find((object) => object.kind === 'ConfigMap' && object.data['proofmill.yaml']);
  map.data['proofmill.yaml'] = map.data['proofmill.yaml'].replace(from, to);
}

export const MUTANTS = [
  { check: 'model', what: 'replicas as a word', plant: (objects) => { workload(objects).spec.replicas = 'two'; } },
  { check: 'model', what: 'a container without a name', plant: (objects) => { delete container(objects).name; } },
  { check: 'model', what: 'an object of a kind that nobody knows', plant: (objects) => { one(objects, 'Service').kind = 'Sevice'; } },
  { check: 'model', what: 'a port of a Service without a number', plant: inKind('Service', ({ spec }) => { delete spec.ports[0].port; }) },
  { check: 'model', what: 'a ConfigMap with a number', plant: inKind('ConfigMap', ({ data }) => { data.x = 1; }) },
  { check: 'model', what: 'a budget without a spec of the right kind', plant: inKind('PodDisruptionBudget', ({ spec }) => { spec.selector = 'all'; }) },
  { check: 'model', what: 'a policy whose ports are none', plant: inKind('NetworkPolicy', ({ spec }) => { spec.ingress[0].ports = 'grpc'; }) },
  { check: 'model', what: 'a ScaledObject without triggers', plant: inKind('ScaledObject', ({ spec }) => { delete spec.triggers; }) },
  { check: 'model', what: 'a monitor without endpoints', plant: inKind('ServiceMonitor', ({ spec }) => { delete spec.endpoints; }) },
  { check: 'model', what: 'a rule without an expression', plant: inKind('PrometheusRule', ({ spec }) => { delete spec.groups[0].rules[0].expr; }) },

  { check: 'unknown', what: 'a misspelt probe', plant: (objects) => { container(objects).readynessProbe = { grpc: { port: 50052 } }; } },
  { check: 'unknown', what: 'a misspelt field of a probe', plant: (objects) => { container(objects).livenessProbe.grpc.servce = 'live'; } },
  { check: 'unknown', what: 'a misspelt security context', plant: (objects) => { pod(objects).securityContext.runAsNonroot = true; } },
  { check: 'unknown', what: 'a misspelt strategy', plant: (objects) => { workload(objects).spec.stratgy = {}; } },
  { check: 'unknown', what: 'a field of a Service at the wrong place', plant: inKind('Service', ({ spec }) => { spec.targetPort = 'grpc'; }) },
  { check: 'unknown', what: 'a misspelt field of a policy', plant: inKind('NetworkPolicy', ({ spec }) => { spec.ingress[0].form = []; }) },
  { check: 'unknown', what: 'a misspelt field of a budget', plant: inKind('PodDisruptionBudget', ({ spec }) => { spec.maxUnavailble = 1; }) },
  { check: 'unknown', what: 'a misspelt field of a ScaledObject', plant: inKind('ScaledObject', ({ spec }) => { spec.maxReplicas = 3; }) },
  { check: 'unknown', what: 'a misspelt field of a monitor', plant: inKind('ServiceMonitor', ({ spec }) => { spec.endpoints[0].intervall = '15s'; }) },
  { check: 'unknown', what: 'a misspelt field of a rule', plant: inKind('PrometheusRule', ({ spec }) => { spec.groups[1].rules[0].form = '5m'; }) },

  { check: 'selectors', what: 'pods that their workload does not choose', plant: (objects) => { delete workload(objects).spec.template.metadata.labels['app.kubernetes.io/name']; } },
  { check: 'selectors', what: 'a Service of another release', plant: inKind('Service', ({ spec }) => { spec.selector['app.kubernetes.io/instance'] = 'other'; }) },
  { check: 'selectors', what: 'a Service that chooses everything', plant: inKind('Service', ({ spec }) => { spec.selector = {}; }) },
  { check: 'selectors', what: 'a budget of another release', plant: inKind('PodDisruptionBudget', ({ spec }) => { spec.selector.matchLabels['app.kubernetes.io/instance'] = 'other'; }) },
  { check: 'selectors', what: 'a policy of another release', plant: inKind('NetworkPolicy', ({ spec }) => { spec.podSelector.matchLabels['app.kubernetes.io/instance'] = 'other'; }) },
  { check: 'selectors', what: 'a monitor that chooses two Services', plant: inKind('ServiceMonitor', ({ spec }) => { delete spec.selector.matchLabels['app.kubernetes.io/component']; }) },

  { check: 'ports', what: 'a Service that leads nowhere', plant: inKind('Service', ({ spec }) => { spec.ports[0].targetPort = 'gprc'; }) },
  { check: 'ports', what: 'a policy for a port that is not there', plant: inKind('NetworkPolicy', ({ spec }) => { spec.ingress[0].ports[0].port = 'data'; }) },
  { check: 'ports', what: 'a probe at the data port', plant: (objects) => { container(objects).readinessProbe.grpc.port = 50051; } },
  { check: 'ports', what: 'a probe that is none', plant: (objects) => { delete container(objects).startupProbe; } },
  { check: 'ports', what: 'a monitor of a port that is not there', plant: inKind('ServiceMonitor', ({ spec }) => { spec.endpoints[0].port = 'http'; }) },

  { check: 'references', what: 'a ConfigMap that is gone', plant: inVolume('config', ({ configMap }) => { configMap.name = 'gone'; }) },
  { check: 'references', what: 'a Secret that is gone', plant: inVolume('tls', ({ secret }) => { secret.secretName = 'gone'; }) },
  { check: 'references', what: 'a claim that is gone', plant: inVolume('circuits', ({ persistentVolumeClaim }) => { persistentVolumeClaim.claimName = 'gone'; }) },
  { check: 'references', what: 'API keys that are gone', plant: inVolume('api-keys', ({ secret }) => { secret.secretName = 'gone'; }) },
  { check: 'references', what: 'tenants that are gone', plant: inVolume('tenants', ({ configMap }) => { configMap.name = 'gone'; }) },
  { check: 'references', what: 'hashes that are gone', plant: inVolume('keys', ({ configMap }) => { configMap.name = 'gone'; }) },
  { check: 'references', what: 'a mount without a volume', plant: (objects) => { pod(objects).volumes.pop(); } },
  { check: 'references', what: 'a volume without a mount', plant: (objects) => { container(objects).volumeMounts.pop(); } },
  { check: 'references', what: 'a StatefulSet without its Service', plant: inKind('StatefulSet', ({ spec }) => { spec.serviceName = 'gone'; }) },
  { check: 'references', what: 'a StatefulSet whose Service has an address', plant: (objects) => {
    const service = named(objects, 'Service', '-pods');
    if (service === undefined) return false;
    delete service.spec.clusterIP;
    return true;
  } },
  { check: 'references', what: 'a ScaledObject of something else', plant: inKind('ScaledObject', ({ spec }) => { spec.scaleTargetRef.name = 'gone'; }) },
  { check: 'references', what: 'two who set the replicas', plant: (objects) => {
    if (one(objects, 'ScaledObject') === undefined) return false;
    workload(objects).spec.replicas = 2;
    return true;
  } },

  { check: 'security', what: 'root', plant: (objects) => { pod(objects).securityContext.runAsUser = 0; } },
  { check: 'security', what: 'no seccomp profile', plant: (objects) => { delete pod(objects).securityContext.seccompProfile; } },
  { check: 'security', what: 'a token in the pod', plant: (objects) => { delete pod(objects).automountServiceAccountToken; } },
  { check: 'security', what: 'a root that can be written', plant: (objects) => { container(objects).securityContext.readOnlyRootFilesystem = false; } },
  { check: 'security', what: 'privilege escalation', plant: (objects) => { delete container(objects).securityContext.allowPrivilegeEscalation; } },
  { check: 'security', what: 'capabilities', plant: (objects) => { container(objects).securityContext.capabilities.drop = ['NET_RAW']; } },
  { check: 'security', what: 'memory without a bound', plant: (objects) => { delete container(objects).resources.limits.memory; } },
  { check: 'security', what: 'keys that can be written', plant: (objects) => { delete container(objects).volumeMounts[0].readOnly; } },
  { check: 'security', what: 'an init container with less care', plant: (objects) => {
    if (pod(objects).initContainers === undefined) return false;
    delete pod(objects).initContainers[0].securityContext;
    return true;
  } },

  { check: 'configuration', what: 'a listener at another port', plant: (objects) => { replaceInConfig(objects, ':50052', ':50053'); } },
  { check: 'configuration', what: 'a backend that the pod has no device for', plant: (objects) => { replaceInConfig(objects, /backend: \w+/, (text) => (text.endsWith('cpu') ? 'backend: cuda' : 'backend: cpu')); } },
  { check: 'configuration', what: 'less time to end than ending takes', plant: (objects) => { pod(objects).terminationGracePeriodSeconds = 30; } },
];
