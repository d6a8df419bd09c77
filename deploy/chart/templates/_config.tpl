{{/* The configuration file of the service. Admin and metrics listeners have no TLS: the NetworkPolicy guards them. */}}
{{- define "proofmill.config" -}}
{{- $own := dict
  "circuits" "/circuits"
  "backend" (ternary "cuda" "cpu" .Values.gpu.enabled)
  "state_dir" "/var/lib/proofmill"
  "listen" (printf "%s:50051" .Values.listenAddress)
  "admin_listen" (printf "%s:50052" .Values.listenAddress)
  "metrics_listen" (printf "%s:9464" .Values.listenAddress)
  "allow_plaintext" true
  "admin_tls" false
  "drain_delay" (printf "%ds" (int .Values.drain.delaySeconds))
  "shutdown_grace" (printf "%ds" (int .Values.drain.graceSeconds)) }}
{{- if .Values.tls.enabled }}
{{- $_ := set $own "tls_cert" "/etc/proofmill/tls/tls.crt" }}
{{- $_ := set $own "tls_key" "/etc/proofmill/tls/tls.key" }}
{{- if .Values.tls.clientCertificates }}
{{- $_ := set $own "tls_client_ca" "/etc/proofmill/tls/ca.crt" }}
{{- end }}
{{- end }}
{{- if .Values.access.apiKeysSecret }}
{{- $_ := set $own "api_key_file" "/etc/proofmill/access/api_keys" }}
{{- end }}
{{- if .Values.access.tenants }}
{{- $_ := set $own "tenant_file" "/etc/proofmill/tenants/tenants" }}
{{- end }}
{{- $settings := .Files.Get "files/settings.yaml" | fromYaml }}
{{- range $name, $_ := .Values.config }}
{{- if hasKey $own $name }}
{{- fail (printf "config: expected settings that the chart does not set itself, got %s" $name) }}
{{- else if not (hasKey $settings $name) }}
{{- fail (printf "config: expected settings of deploy/proofmill.example.yaml, got %s" $name) }}
{{- end }}
{{- end }}
{{- toYaml (merge $own .Values.config) }}
{{- end }}

{{/* The keys and their hashes, as b2sum --check reads them. */}}
{{- define "proofmill.hashes" -}}
{{- range $path, $hash := .Values.circuits.hashes }}
{{- printf "%s  %s\n" $hash $path }}
{{- end }}
{{- end }}
