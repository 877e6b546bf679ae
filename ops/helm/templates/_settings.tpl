{{/*
Which secrets a part reads: names of variables, each with its entry in `secrets`. An entry that is null is left out.
*/}}
{{- define "sdp.secretsOf" -}}
{{- $store := list "SECRETS_KEY=secretsKey" "S3_ACCESS_KEY_ID=s3AccessKeyId" "S3_SECRET_ACCESS_KEY=s3SecretAccessKey" -}}
{{- $temporal := list "TEMPORAL_API_KEY=temporalApiKey" "TEMPORAL_TLS_CA=temporalTlsCa" "TEMPORAL_TLS_CERT=temporalTlsCert" "TEMPORAL_TLS_KEY=temporalTlsKey" -}}
{{- $worker := concat (list "DATABASE_URL=databaseUrl") $store $temporal -}}
{{- $auth := list "TOKEN_KEY=tokenKey" "PARTICIPANT_KEY=participantKey" "AUTH_SERVICE_KEY=authServiceKey" -}}
{{- $callers := list "RUNNER_HOST_KEY=runnerHostKey" "METRICS_TOKEN=metricsToken" "REPORT_DATABASE_URL=reportDatabaseUrl" -}}
{{- $parts := dict
  "api" (concat $worker $auth $callers)
  "worker" $worker
  "builtin-worker" $worker
  "runner-host" (list "RUNNER_HOST_KEY=runnerHostKey")
  "migrations" (concat (list "DATABASE_URL=ownerDatabaseUrl" "TOKEN_KEY=tokenKey" "ADMIN_PASSWORD=adminPassword") $store)
-}}
{{- $read := list -}}
{{- range get $parts .part -}}
{{- $pair := splitList "=" . -}}
{{- $entry := get $.root.Values.secrets (index $pair 1) -}}
{{- if $entry -}}
{{- $name := $entry.name | default $.root.Values.secrets.name | required (printf "secrets.name is required: secrets.%s names no Secret of its own" (index $pair 1)) -}}
{{- $read = append $read (dict "variable" (index $pair 0) "name" $name "key" $entry.key) -}}
{{- end -}}
{{- end -}}
{{- toJson (dict "secrets" $read) -}}
{{- end }}

{{/* What the processes that reach database, Temporal and store have in common. */}}
{{- define "sdp.platformSettings" -}}
TEMPORAL_ADDRESS: {{ .Values.temporal.address | quote }}
TEMPORAL_NAMESPACE: {{ .Values.temporal.namespace | quote }}
TEMPORAL_TASK_QUEUE: {{ .Values.temporal.taskQueue | quote }}
{{- if not (kindIs "invalid" .Values.temporal.tls) }}
TEMPORAL_TLS: {{ .Values.temporal.tls | quote }}
{{- end }}
TEMPORAL_TLS_SERVER_NAME: {{ .Values.temporal.tlsServerName | quote }}
S3_ENDPOINT: {{ .Values.s3.endpoint | quote }}
S3_REGION: {{ .Values.s3.region | quote }}
S3_BUCKET: {{ .Values.s3.bucket | quote }}
S3_PREFIX: {{ .Values.s3.prefix | quote }}
S3_FORCE_PATH_STYLE: {{ .Values.s3.forcePathStyle | quote }}
DATA_SOURCE_ENDPOINT_ALLOWLIST: {{ .Values.dataSourceEndpointAllowlist | quote }}
WEBHOOK_ALLOWLIST: {{ .Values.webhookAllowlist | quote }}
LOG_LEVEL: {{ .Values.logLevel | quote }}
{{- with .Values.certificates.trusted }}
NODE_EXTRA_CA_CERTS: /etc/sdp/certificates/{{ . }}
{{- end }}
{{- end }}

{{- define "sdp.metricsSettings" -}}
METRICS_PORT: '9100'
METRICS_HOST: 0.0.0.0
{{- end }}

{{/* Variables of a container: (dict "root" $ "part" "api" "settings" <dict>). Empty ones are left out: absent means the same. */}}
{{- define "sdp.environment" -}}
env:
{{- range $name, $value := .settings }}
{{- if ne (toString $value) "" }}
  - name: {{ $name }}
    value: {{ toString $value | quote }}
{{- end }}
{{- end }}
{{- range (include "sdp.secretsOf" . | fromJson).secrets }}
  - name: {{ .variable }}_FILE
    value: /run/secrets/{{ lower .variable }}
{{- end }}
{{- end }}

{{/* The Secrets of a part as files of one folder, each key that it reads and no other. */}}
{{- define "sdp.secretVolume" -}}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
    {{- range (include "sdp.secretsOf" . | fromJson).secrets }}
      - secret:
          name: {{ .name }}
          items:
            - key: {{ .key }}
              path: {{ lower .variable }}
    {{- end }}
{{- end }}
