{{/* The pod, of the Deployment as of the StatefulSet. */}}
{{- define "proofmill.pod" -}}
metadata:
  labels:
    {{- include "proofmill.labels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    checksum/config: {{ printf "%s%s" (include "proofmill.config" .) (include "proofmill.hashes" .) | sha256sum | quote }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ add .Values.drain.delaySeconds .Values.drain.graceSeconds .Values.drain.marginSeconds }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: RuntimeDefault}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with .Values.runtimeClassName }}
  runtimeClassName: {{ . }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.topologySpreadConstraints }}
  topologySpreadConstraints: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- if .Values.circuits.hashes }}
  initContainers:
    - name: check-keys
      image: {{ include "proofmill.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      command: [sh, /etc/proofmill/keys/check-keys.sh, /circuits, /etc/proofmill/keys/b2sums]
      securityContext: {{ include "proofmill.containerSecurity" . | nindent 8 }}
      resources:
        requests: {cpu: 500m, memory: 64Mi}
        limits: {memory: 64Mi}
      volumeMounts:
        {{- include "proofmill.circuitsMount" . | nindent 8 }}
        - {name: keys, mountPath: /etc/proofmill/keys, readOnly: true}
  {{- end }}
  containers:
    - name: proofmill
      image: {{ include "proofmill.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [serve, --config, /etc/proofmill/config/proofmill.yaml]
      {{- if .Values.jobs.enabled }}
      env:
        - name: POD_NAME
          valueFrom: {fieldRef: {fieldPath: metadata.name}}
        - name: PROOFMILL_ADVERTISE_ADDRESS
          value: $(POD_NAME).{{ include "proofmill.podsService" . }}.{{ .Release.Namespace }}.svc:50051
      {{- end }}
      ports:
        - {name: grpc, containerPort: 50051}
        - {name: admin, containerPort: 50052}
        - {name: metrics, containerPort: 9464}
      # Loading may take long; after that a full queue is no reason to restart, and no reason to be taken out of the service.
      startupProbe:
        grpc: {port: 50052, service: started}
        periodSeconds: 5
        failureThreshold: {{ div (add .Values.startupSeconds 4) 5 }}
      livenessProbe:
        grpc: {port: 50052, service: live}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 3
      readinessProbe:
        grpc: {port: 50052}
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: 2
      securityContext: {{ include "proofmill.containerSecurity" . | nindent 8 }}
      resources:
        requests: {{ toYaml .Values.resources.requests | nindent 10 }}
        limits:
          {{- toYaml .Values.resources.limits | nindent 10 }}
          {{- if .Values.gpu.enabled }}
          {{ .Values.gpu.resource }}: {{ .Values.gpu.count }}
          {{- end }}
      volumeMounts:
        {{- include "proofmill.circuitsMount" . | nindent 8 }}
        - {name: config, mountPath: /etc/proofmill/config, readOnly: true}
        - {name: state, mountPath: /var/lib/proofmill}
        - {name: tmp, mountPath: /tmp}
        {{- if .Values.tls.enabled }}
        - {name: tls, mountPath: /etc/proofmill/tls, readOnly: true}
        {{- end }}
        {{- if .Values.access.apiKeysSecret }}
        - {name: api-keys, mountPath: /etc/proofmill/access, readOnly: true}
        {{- end }}
        {{- if .Values.access.tenants }}
        - {name: tenants, mountPath: /etc/proofmill/tenants, readOnly: true}
        {{- end }}
  volumes:
    - name: circuits
      persistentVolumeClaim: {claimName: {{ .Values.circuits.existingClaim }}, readOnly: true}
    - name: config
      configMap: {name: {{ include "proofmill.name" . }}}
    # Which keys passed their check; lost with the pod.
    - name: state
      emptyDir: {sizeLimit: 64Mi}
    - name: tmp
      emptyDir: {medium: Memory, sizeLimit: 64Mi}
    {{- if .Values.circuits.hashes }}
    - name: keys
      configMap: {name: {{ include "proofmill.name" . }}-keys}
    {{- end }}
    {{- if .Values.tls.enabled }}
    # Secrets have mode 0440, for the pod's group.
    - name: tls
      secret: {secretName: {{ .Values.tls.existingSecret }}, defaultMode: 288}
    {{- end }}
    {{- with .Values.access.apiKeysSecret }}
    - name: api-keys
      secret: {secretName: {{ . }}, defaultMode: 288}
    {{- end }}
    {{- if .Values.access.tenants }}
    - name: tenants
      configMap: {name: {{ include "proofmill.name" . }}-tenants}
    {{- end }}
{{- end }}

{{- define "proofmill.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "proofmill.circuitsMount" -}}
- name: circuits
  mountPath: /circuits
  readOnly: true
  {{- with .Values.circuits.subPath }}
  subPath: {{ . }}
  {{- end }}
{{- end }}
