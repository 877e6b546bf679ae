{{- define "sdp.name" -}}
{{- default .Release.Name .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{/* Of one part: (dict "root" $ "part" "api") */}}
{{- define "sdp.partName" -}}
{{ include "sdp.name" .root }}-{{ .part }}
{{- end }}

{{- define "sdp.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "sdp.labels" -}}
{{ include "sdp.selector" . }}
app.kubernetes.io/version: {{ .root.Values.image.tag | default .root.Chart.AppVersion | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{/* Runs before everything else of an install or an upgrade; lower weights first. */}}
{{- define "sdp.beforeAll" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation
{{- end }}

{{- define "sdp.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ with .Values.image.digest }}@{{ . }}{{ end }}
{{- end }}

{{/* The address at which runner hosts and the test of the release reach the API. */}}
{{- define "sdp.apiUrl" -}}
http://{{ include "sdp.partName" (dict "root" . "part" "api") }}:{{ .Values.service.port }}
{{- end }}
