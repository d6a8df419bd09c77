// What no schema says: that the objects of one rendering fit together, and that the pod is as safe as it should be.
// Each check takes all objects and yields what is wrong.

const WORKLOADS = ['Deployment', 'StatefulSet'];
const kindsOf = (objects, ...kinds) => objects.filter((object) => kinds.includes(object.kind));
const nameOf = (object) => `${object.kind} ${object.metadata.name}`;
const podOf = (workload) => workload.spec.template.spec;
const containersOf = (workload) => [...(podOf(workload).initContainers ?? []), ...podOf(workload).containers];
const portsOf = (workload) => podOf(workload).containers.flatMap((container) => container.ports ?? []);
const covers = (labels, selector) => Object.entries(selector).every(([key, value]) => labels?.[key] === value);

function podsBy(objects, selector) {
  if (Object.keys(selector ?? {}).length === 0) return [];
  return kindsOf(objects, ...WORKLOADS).filter((workload) => covers(workload.spec.template.metadata.labels, selector));
}

// Who chooses pods finds some.
export function* selectors(objects) {
  for (const object of objects) {
    const selector = {
      Deployment: (spec) => spec.selector.matchLabels,
      StatefulSet: (spec) => spec.selector.matchLabels,
      Service: (spec) => spec.selector,
      PodDisruptionBudget: (spec) => spec.selector.matchLabels,
      NetworkPolicy: (spec) => spec.podSelector.matchLabels,
    }[object.kind];
    if (selector !== undefined && podsBy(objects, selector(object.spec)).length === 0) {
      yield `${nameOf(object)} chooses no pod`;
    }
  }
  for (const monitor of kindsOf(objects, 'ServiceMonitor')) {
    const services = kindsOf(objects, 'Service').filter((one) => covers(one.metadata.labels, monitor.spec.selector.matchLabels));
    if (services.length !== 1) yield `${nameOf(monitor)} chooses ${services.length} Services, 1 expected`;
  }
}

// A port that is named or numbered anywhere is one of the container.
export function* ports(objects) {
  const isPort = (workload, port) => portsOf(workload).some(({ name, containerPort }) => port === name || port === containerPort);
  for (const service of kindsOf(objects, 'Service')) {
    for (const workload of podsBy(objects, service.spec.selector)) {
      for (const { targetPort } of service.spec.ports) {
        if (!isPort(workload, targetPort)) yield `${nameOf(service)} leads to port ${targetPort}, which no container has`;
      }
    }
  }
  for (const policy of kindsOf(objects, 'NetworkPolicy')) {
    for (const workload of podsBy(objects, policy.spec.podSelector.matchLabels)) {
      for (const { port } of policy.spec.ingress.flatMap((rule) => rule.ports)) {
        if (!isPort(workload, port)) yield `${nameOf(policy)} lets port ${port} in, which no container has`;
      }
    }
  }
  for (const workload of kindsOf(objects, ...WORKLOADS)) {
    for (const container of podOf(workload).containers) {
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
        const port = container[probe]?.grpc?.port;
        const admin = portsOf(workload).find(({ name }) => name === 'admin')?.containerPort;
        if (port !== admin) yield `${nameOf(workload)} has a ${probe} at port ${port}, ${admin} expected`;
      }
    }
  }
  for (const monitor of kindsOf(objects, 'ServiceMonitor')) {
    const names = kindsOf(objects, 'Service')
      .filter((one) => covers(one.metadata.labels, monitor.spec.selector.matchLabels))
      .flatMap((one) => one.spec.ports.map(({ name }) => name));
    for (const { port } of monitor.spec.endpoints) {
      if (!names.includes(port)) yield `${nameOf(monitor)} scrapes port ${port}, which its Service does not have`;
    }
  }
}

// What is referred to is there, or is said to come from elsewhere ("Secret name").
export function* references(objects, elsewhere) {
  const there = new Set([...objects.map(nameOf), ...elsewhere]);
  const missing = (from, kind, name) => (there.has(`${kind} ${name}`) ? [] : [`${from} refers to the ${kind} ${name}, which is nowhere`]);
  for (const workload of kindsOf(objects, ...WORKLOADS)) {
    const from = nameOf(workload);
    const pod = podOf(workload);
    for (const { configMap, secret, persistentVolumeClaim } of pod.volumes) {
      if (configMap) yield* missing(from, 'ConfigMap', configMap.name);
      if (secret) yield* missing(from, 'Secret', secret.secretName);
      if (persistentVolumeClaim) yield* missing(from, 'PersistentVolumeClaim', persistentVolumeClaim.claimName);
    }
    for (const { name } of pod.imagePullSecrets ?? []) yield* missing(from, 'Secret', name);
    if (workload.kind === 'StatefulSet') {
      yield* missing(from, 'Service', workload.spec.serviceName);
      const service = objects.find((object) => nameOf(object) === `Service ${workload.spec.serviceName}`);
      if (service && service.spec.clusterIP !== 'None') yield `${nameOf(service)} of ${from} has an address, none expected`;
    }
    const volumes = pod.volumes.map(({ name }) => name);
    const mounts = containersOf(workload).flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name));
    for (const name of mounts) if (!volumes.includes(name)) yield `${from} mounts ${name}, which is no volume`;
    for (const name of volumes) if (!mounts.includes(name)) yield `${from} has the volume ${name}, which nothing mounts`;
  }
  for (const scaled of kindsOf(objects, 'ScaledObject')) {
    const { kind, name } = scaled.spec.scaleTargetRef;
    yield* missing(nameOf(scaled), kind, name);
    if (objects.find((object) => nameOf(object) === `${kind} ${name}`)?.spec.replicas !== undefined) {
      yield `${kind} ${name} has replicas of its own beside ${nameOf(scaled)}`;
    }
  }
}

// Non-root, nothing to write to, nothing to gain.
export function* security(objects) {
  for (const workload of kindsOf(objects, ...WORKLOADS)) {
    const { securityContext: pod = {}, automountServiceAccountToken } = podOf(workload);
    const expect = (ok, what) => (ok ? [] : [`${nameOf(workload)}: ${what} expected`]);
    yield* expect(pod.runAsNonRoot === true && pod.runAsUser > 0, 'a user that is not root');
    yield* expect(pod.seccompProfile?.type === 'RuntimeDefault', 'the default seccomp profile');
    yield* expect(automountServiceAccountToken === false, 'no token of a service account');
    for (const { name, securityContext = {}, resources, volumeMounts } of containersOf(workload)) {
      yield* expect(securityContext.readOnlyRootFilesystem === true, `a read-only root in ${name}`);
      yield* expect(securityContext.allowPrivilegeEscalation === false, `no privilege escalation in ${name}`);
      yield* expect(String(securityContext.capabilities?.drop) === 'ALL', `no capabilities in ${name}`);
      yield* expect(resources?.limits?.memory !== undefined, `a bound on the memory of ${name}`);
      for (const { name: volume, readOnly } of volumeMounts) {
        yield* expect(readOnly === true || ['state', 'tmp'].includes(volume), `${volume} read-only in ${name}`);
      }
    }
  }
}

// The configuration file fits the pod: its ports, its GPUs, and its time to end.
export function* configuration(objects, parse) {
  for (const workload of kindsOf(objects, ...WORKLOADS)) {
    const map = objects.find((object) => nameOf(object) === `ConfigMap ${workload.metadata.name}`);
    const config = parse(map.data['proofmill.yaml']);
    const from = nameOf(workload);
    for (const [name, setting] of [['grpc', 'listen'], ['admin', 'admin_listen'], ['metrics', 'metrics_listen']]) {
      const port = portsOf(workload).find((one) => one.name === name)?.containerPort;
      if (!config[setting].endsWith(`:${port}`)) yield `${from} has the port ${name} at ${port}, but ${setting} is ${config[setting]}`;
    }
    const gpus = Object.keys(podOf(workload).containers[0].resources.limits).filter((name) => name.includes('/gpu'));
    if ((config.backend === 'cuda') !== (gpus.length === 1)) yield `${from} has the backend ${config.backend} and ${gpus.length} kinds of GPU`;
    const seconds = parseInt(config.drain_delay, 10) + parseInt(config.shutdown_grace, 10);
    const grace = podOf(workload).terminationGracePeriodSeconds;
    if (!(grace > seconds)) yield `${from} has ${grace} s to end, more than ${seconds} s expected`;
  }
}
