{{- define "millrace.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "millrace.containerSecurity" -}}
allowPrivilegeEscalation: false
privileged: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- /*
What every pod of the release has: (list $ $placement $selector), and the name of a service account where the pod has one of its own
and asks the Kubernetes API.
*/ -}}
{{- define "millrace.podCommon" -}}
{{- $root := index . 0 -}}
{{- $placement := index . 1 -}}
{{- $selector := index . 2 -}}
{{- $asks := gt (len .) 3 -}}
serviceAccountName: {{ if $asks }}{{ index . 3 }}{{ else }}{{ include "millrace.serviceAccount" $root }}{{ end }}
automountServiceAccountToken: {{ $asks }}
enableServiceLinks: false
securityContext:
  {{- include "millrace.podSecurity" $root | nindent 2 }}
{{- with $root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with $placement.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $placement.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $placement.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $placement.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
topologySpreadConstraints:
  {{- if $placement.topologySpreadConstraints }}
  {{- toYaml $placement.topologySpreadConstraints | nindent 2 }}
  {{- else }}
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- $selector | nindent 8 }}
  {{- end }}
  {{- end }}
{{- end -}}

{{- /* Probes of a process of ours. Started: the schema was recognised. Ready: PostgreSQL answers and the process is not
stopping; Redis and S3 may be away. Live: the event loop turns. A process whose event loop stands still takes no signal: it gets
seconds to end instead of the pod's grace period, which has the drain in it. */ -}}
{{- define "millrace.probes" -}}
startupProbe:
  httpGet: { path: /health/startup, port: ops }
  periodSeconds: 2
  timeoutSeconds: 5
  failureThreshold: {{ . }}
  terminationGracePeriodSeconds: 10
readinessProbe:
  httpGet: { path: /health/ready, port: ops }
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
livenessProbe:
  httpGet: { path: /health/live, port: ops }
  periodSeconds: 10
  timeoutSeconds: 10
  failureThreshold: 6
  terminationGracePeriodSeconds: 10
{{- end -}}

{{- /*
How many pods of a Deployment with an autoscaler the manifest names: (list $root "name" "hpa"), or "keda". Empty: none, as the autoscaler
decides. Helm takes a field away that its manifest before had, and Kubernetes then runs one pod: a Deployment that had a number when
its autoscaler came keeps the one that runs, and carries the annotation by which the next upgrade knows that.
*/ -}}
{{- define "millrace.keptReplicas" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $keda := eq (index . 2) "keda" -}}
{{- $found := lookup "apps/v1" "Deployment" $root.Release.Namespace $name -}}
{{- if $found -}}
{{- $object := ternary (list "keda.sh/v1alpha1" "ScaledObject") (list "autoscaling/v2" "HorizontalPodAutoscaler") $keda -}}
{{- $scaled := false -}}
{{- if $root.Capabilities.APIVersions.Has (index $object 0) -}}
{{- $scaled = lookup (index $object 0) (index $object 1) $root.Release.Namespace $name -}}
{{- end -}}
{{- if or (not $scaled) (hasKey ($found.metadata.annotations | default dict) "millrace/replicas") -}}
{{- /* A HorizontalPodAutoscaler leaves a Deployment at 0. */ -}}
{{- max (ternary 0 1 $keda) (int (get $found.spec "replicas" | toString | default "1")) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* A variable from a Secret: (list "NAME" "secret" "key"). */ -}}
{{- define "millrace.secretEnv" -}}
- name: {{ index . 0 }}
  valueFrom:
    secretKeyRef:
      name: {{ index . 1 }}
      key: {{ index . 2 }}
{{- end -}}

{{- /* The internet, as peers of a NetworkPolicy, without private networks and the metadata services of clouds. */ -}}
{{- define "millrace.internet" -}}
- ipBlock: { cidr: 0.0.0.0/0, except: [10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16] }
- ipBlock: { cidr: '::/0', except: ['fc00::/7', 'fe80::/10'] }
{{- end -}}

{{- /*
Where a process reaches the database: (list $ "api"). With a user of its own, a process gets neither URL of the owner of the tables.
*/ -}}
{{- define "millrace.databaseEnv" -}}
{{- $root := index . 0 -}}
{{- $secret := include "millrace.postgresSecret" $root -}}
{{- $external := $root.Values.postgres.external -}}
{{- $own := get $external.processKeys (index . 1) -}}
{{- $keys := dict "key" $external.key "directKey" $external.directKey -}}
{{- if $own }}{{ $keys = dict "key" $own "directKey" (get $external.processDirectKeys (index . 1)) }}{{ end -}}
{{- if $root.Values.postgres.bundled.enabled }}{{ $keys = dict "key" "url" }}{{ end -}}
{{ include "millrace.secretEnv" (list "DATABASE_URL" $secret $keys.key) }}
{{- with $keys.directKey }}
{{ include "millrace.secretEnv" (list "MILLRACE_DATABASE_DIRECT_URL" $secret .) }}
{{- end }}
{{- end -}}

{{- /* Environment of migrations, which connect as the owner of the tables: no process has the name of one. */ -}}
{{- define "millrace.migrateEnv" -}}
{{ include "millrace.databaseEnv" (list . "owner") }}
{{- with (include "millrace.extraEnv" .) }}
{{ . }}
{{- end }}
- { name: HOME, value: /tmp }
{{- end -}}

{{- define "millrace.s3Env" -}}
- name: S3_BUCKET
  value: {{ .Values.s3.bucket | quote }}
- name: S3_REGION
  value: {{ .Values.s3.region | quote }}
{{- if .Values.s3.bundled.enabled }}
- name: S3_ENDPOINT
  value: http://{{ include "millrace.fullname" . }}-s3:9000
{{- else if .Values.s3.external.endpoint }}
- name: S3_ENDPOINT
  value: {{ .Values.s3.external.endpoint | quote }}
{{- end }}
{{- with .Values.s3.publicEndpoint }}
- name: S3_PUBLIC_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- with (include "millrace.s3Secret" .) }}
{{ include "millrace.secretEnv" (list "S3_ACCESS_KEY_ID" . "access-key-id") }}
{{ include "millrace.secretEnv" (list "S3_SECRET_ACCESS_KEY" . "secret-access-key") }}
{{- end }}
{{- end -}}

{{- /* MiB of the heap of a process with this memory limit. The rest is for buffers, stacks and code. */ -}}
{{- define "millrace.heapMiB" -}}
{{- $units := dict "" 1 "k" 1000 "M" 1000000 "G" 1000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 -}}
{{- $quantity := toString . -}}
{{- $number := regexFind "^[0-9.]+" $quantity -}}
{{- $unit := get $units (trimPrefix $number $quantity) -}}
{{- if $unit -}}{{ divf (mulf (float64 $number) $unit 0.6) 1048576 | floor | int }}{{- end -}}
{{- end -}}

{{- /*
Environment of a process: (list $ "api" $own $resources), where `own` are its settings over those of all, and the name of a user of the
database where it is not the process's own. Without a limit of its heap, a process that needs memory for a moment would grow until the kernel ends it, instead of collecting garbage.
*/ -}}
{{- define "millrace.env" -}}
{{- $root := index . 0 -}}
{{- $process := index . 1 -}}
{{- $own := index . 2 -}}
{{- $limit := dig "limits" "memory" "" (index . 3) -}}
{{- $known := get ($root.Files.Get "files/settings.yaml" | fromYaml) $process -}}
- name: NODE_ENV
  value: production
{{- with (include "millrace.heapMiB" $limit) }}
- name: NODE_OPTIONS
  value: --max-old-space-size={{ . }}
{{- end }}
{{- /* The fleet process is one of maintenance to the database, and knows neither queue nor store; a gateway without a user of its own is a worker. */ -}}
{{- $isFleet := eq $process "fleet" }}
{{- $gateway := ternary "gateway" "worker" (not (empty $root.Values.postgres.external.processKeys.gateway)) }}
{{- $user := get (dict "fleet" "maintenance" "gateway" $gateway) $process | default $process }}
{{- if gt (len .) 4 }}{{ $user = index . 4 }}{{ end }}
{{ include "millrace.databaseEnv" (list $root $user) }}
{{- if not $isFleet }}
{{ include "millrace.secretEnv" (list "REDIS_URL" (include "millrace.redisSecret" $root) (ternary "url" $root.Values.redis.external.key $root.Values.redis.bundled.enabled)) }}
{{ include "millrace.s3Env" $root }}
{{- end }}
{{- with (include "millrace.extraEnv" $root) }}
{{ . }}
{{- end }}
- name: MILLRACE_OPS_HOST
  value: {{ $root.Values.listenHost | quote }}
- name: MILLRACE_OPS_PORT
  value: "9090"
{{- /* Behind the chart's own way in there is one proxy: without it all clients would share one address, and its limits. */ -}}
{{- $defaults := ternary (dict "MILLRACE_TRUSTED_PROXIES" 1) dict (or $root.Values.ingress.enabled $root.Values.gateway.enabled) }}
{{- $all := mustMergeOverwrite $defaults (deepCopy $root.Values.settings) (deepCopy $own) }}
{{- range $name := keys $all | sortAlpha }}
{{- if has $name $known }}
- name: {{ $name }}
  value: {{ include "millrace.text" (get $all $name) | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* Variables of the operator's own, and the authority that Node.js is to trust. */ -}}
{{- define "millrace.extraEnv" -}}
{{- if .Values.tls.caConfigMap }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/millrace/ca/{{ .Values.tls.caKey }}
{{- end }}
{{- with .Values.extra.env }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "millrace.extraVolumeMounts" -}}
{{- if .Values.tls.caConfigMap }}
- { name: ca, mountPath: /etc/millrace/ca, readOnly: true }
{{- end }}
{{- with .Values.extra.volumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "millrace.extraVolumes" -}}
{{- with .Values.tls.caConfigMap }}
- name: ca
  configMap: { name: {{ . }} }
{{- end }}
{{- with .Values.extra.volumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* The name of the pod, for `$(POD_NAME)` in what comes after it. */ -}}
{{- define "millrace.podName" -}}
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
{{- end -}}

{{- define "millrace.ports.ops" -}}
- name: ops
  containerPort: 9090
  protocol: TCP
{{- end -}}

{{- /* Jobs that need workers of a pool: (list $ "pool"). Every maintenance process reports the same number; while the database
is away they report none, and KEDA falls back. */ -}}
{{- define "millrace.workQuery" -}}
max(millrace_pool_pending_jobs{namespace="{{ (index . 0).Release.Namespace }}",pool="{{ index . 1 }}"})
{{- end -}}

{{- /* A pod that runs to its end and needs no account of its own: in hook mode the release's does not exist yet. */ -}}
{{- define "millrace.setupPod" -}}
restartPolicy: OnFailure
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  {{- include "millrace.podSecurity" . | nindent 2 }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{- /* A scalar as text; Helm reads every number as a float and would write large ones with an exponent. */ -}}
{{- define "millrace.text" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- end -}}
