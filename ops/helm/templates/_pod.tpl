{{/*
The pod of a part. (dict "root" $ "part" "api" "values" .Values.api "account" <service account> "args" <list>
"settings" <dict> "tempSize" "4Gi" "graceSeconds" 45 "container" <yaml of probes and ports> "restartPolicy" ""
"modules" <bool> "smallTemp" "64Mi")
*/}}
{{- define "sdp.pod" -}}
metadata:
  labels:
    {{- include "sdp.labels" . | nindent 4 }}
  {{- with .values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ .account }}
  # No process of the platform calls Kubernetes.
  automountServiceAccountToken: false
  enableServiceLinks: false
  # The programs that a process starts are reaped by the pod's first process, which knows how.
  shareProcessNamespace: true
  terminationGracePeriodSeconds: {{ .graceSeconds }}
  {{- with .restartPolicy }}
  restartPolicy: {{ . }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  {{- with .root.Values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  topologySpreadConstraints:
    {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "sdp.selector" $ | nindent 10 }}
    {{- end }}
  {{- with .values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .part }}
      image: {{ include "sdp.image" .root | quote }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: {{ toJson .args }}
      {{- include "sdp.environment" . | nindent 6 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop:
            - ALL
      resources:
        {{- toYaml .values.resources | nindent 8 }}
      {{- with .container }}
      {{- . | nindent 6 }}
      {{- end }}
      volumeMounts:
        - name: temp
          mountPath: /var/lib/sdp
        - name: small-temp
          mountPath: /tmp
        - name: secrets
          mountPath: /run/secrets
          readOnly: true
        {{- if .certificates }}
        - name: certificates
          mountPath: /etc/sdp/certificates
          readOnly: true
        {{- end }}
        {{- if .modules }}
        - name: modules
          mountPath: /runners
          readOnly: true
        {{- end }}
  volumes:
    - name: temp
      emptyDir:
        sizeLimit: {{ .tempSize }}
    - name: small-temp
      emptyDir:
        medium: Memory
        sizeLimit: {{ .smallTemp | default "64Mi" }}
    {{- include "sdp.secretVolume" . | nindent 4 }}
    {{- if .certificates }}
    - name: certificates
      configMap:
        name: {{ .root.Values.certificates.configMap }}
    {{- end }}
    {{- if .modules }}
    - name: modules
      {{- with .root.Values.runnerHost.modules }}
      {{- if .claim }}
      persistentVolumeClaim:
        claimName: {{ .claim }}
        readOnly: true
      {{- else }}
      configMap:
        name: {{ .configMap }}
      {{- end }}
      {{- end }}
    {{- end }}
{{- end }}

{{/* A part that runs in any number, replaced one by one. As sdp.pod, with "values.replicas". */}}
{{- define "sdp.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "sdp.partName" . }}
  labels:
    {{- include "sdp.labels" . | nindent 4 }}
spec:
  {{- if not (dig "autoscaling" "enabled" false .values) }}
  replicas: {{ .values.replicas }}
  {{- end }}
  revisionHistoryLimit: 3
  selector:
    matchLabels:
      {{- include "sdp.selector" . | nindent 6 }}
  # A new one is ready before an old one is stopped.
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxSurge: 1
      maxUnavailable: 0
  template:
    {{- include "sdp.pod" . | nindent 4 }}
{{- end }}

{{/* Probes of a process that serves no requests: the file that it rewrites every ten seconds is fresh. */}}
{{- define "sdp.freshFileProbes" -}}
ports:
  - name: metrics
    containerPort: 9100
{{- $check := toJson (list "node" "ops/compose/check.mjs" "--fresh" "/tmp/ready") }}
startupProbe:
  exec:
    command: {{ $check }}
  periodSeconds: 5
  timeoutSeconds: 10
  failureThreshold: 24
readinessProbe:
  exec:
    command: {{ $check }}
  periodSeconds: 30
  timeoutSeconds: 10
  failureThreshold: 1
livenessProbe:
  exec:
    command: {{ $check }}
  periodSeconds: 30
  timeoutSeconds: 10
  failureThreshold: 3
{{- end }}
