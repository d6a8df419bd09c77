{{/* The name of all objects: at most 50 characters, so that what is put behind it fits into a DNS label. */}}
{{- define "proofmill.name" -}}
{{- default .Release.Name .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- end }}

{{/* What never changes in the life of a release. */}}
{{- define "proofmill.selectorLabels" -}}
app.kubernetes.io/name: proofmill
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "proofmill.labels" -}}
{{ include "proofmill.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- define "proofmill.image" -}}
{{- $tag := default (printf "%s%s" .Chart.AppVersion (ternary "" "-cpu" .Values.gpu.enabled)) .Values.image.tag -}}
{{- printf "%s:%s" .Values.image.repository $tag -}}
{{- end }}

{{/* Where the pods of the StatefulSet have names. */}}
{{- define "proofmill.podsService" -}}
{{- printf "%s-pods" (include "proofmill.name" .) -}}
{{- end }}
