{{- define "millrace.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- /* Short enough that the longest suffix still fits into 63 characters. */ -}}
{{- define "millrace.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 36 | trimSuffix "-" -}}
{{- else if contains (include "millrace.name" .) .Release.Name -}}
{{- .Release.Name | trunc 36 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "millrace.name" .) | trunc 36 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "millrace.selector" -}}
app.kubernetes.io/name: {{ include "millrace.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "millrace.labels" -}}
{{ include "millrace.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- /* Image of a process: (list $ "api"). */ -}}
{{- define "millrace.image" -}}
{{- $root := index . 0 -}}
{{- $process := index . 1 -}}
{{- $image := $root.Values.image -}}
{{- $name := printf "%s-%s:%s" $image.repository $process (default $root.Chart.AppVersion $image.tag) -}}
{{- $digest := get $image.digests $process -}}
{{- if $digest }}{{ printf "%s@%s" $name $digest }}{{ else }}{{ $name }}{{ end -}}
{{- end -}}

{{- /* An image that others make, with its digest where there is one: (dict "image" "name:tag" "digest" "sha256:..."). */ -}}
{{- define "millrace.otherImage" -}}
{{- if .digest }}{{ printf "%s@%s" (regexReplaceAll "@.*$" .image "") .digest }}{{ else }}{{ .image }}{{ end -}}
{{- end -}}

{{- define "millrace.serviceAccount" -}}
{{- default (include "millrace.fullname" .) .Values.serviceAccount.existing -}}
{{- end -}}

{{- define "millrace.secretName" -}}
{{- default (include "millrace.fullname" .) .Values.secrets.existingSecret -}}
{{- end -}}

{{- define "millrace.postgresSecret" -}}
{{- if .Values.postgres.bundled.enabled }}{{ include "millrace.fullname" . }}-postgres{{ else }}{{ .Values.postgres.external.existingSecret }}{{ end -}}
{{- end -}}

{{- /* How migrations run, `hook` or `job`: before everything else where the database does not come with the release. */ -}}
{{- define "millrace.migrationMode" -}}
{{- if eq .Values.migrations.mode "auto" }}{{ ternary "job" "hook" .Values.postgres.bundled.enabled }}{{ else }}{{ .Values.migrations.mode }}{{ end -}}
{{- end -}}

{{- define "millrace.redisSecret" -}}
{{- if .Values.redis.bundled.enabled }}{{ include "millrace.fullname" . }}-redis{{ else }}{{ .Values.redis.external.existingSecret }}{{ end -}}
{{- end -}}

{{- define "millrace.s3Secret" -}}
{{- if .Values.s3.bundled.enabled }}{{ include "millrace.fullname" . }}-s3{{ else }}{{ .Values.s3.external.existingSecret }}{{ end -}}
{{- end -}}

{{- /* A pool over the defaults, as YAML: (list $ $pool). */ -}}
{{- define "millrace.pool" -}}
{{- $root := index . 0 -}}
{{- mustMergeOverwrite (deepCopy $root.Values.workerDefaults) (deepCopy (default dict (index . 1))) | toYaml -}}
{{- end -}}

{{- /* Name of a pool's objects. A pool's own name may have capitals and underscores, a Kubernetes name may not, so a name
that had to be changed gets a digest of the true one. */ -}}
{{- define "millrace.workerName" -}}
{{- $root := index . 0 -}}
{{- $pool := index . 1 -}}
{{- $plain := regexReplaceAll "[^a-z0-9-]" (lower $pool) "-" -}}
{{- $short := trunc 11 $plain | trimAll "-" -}}
{{- $suffix := $plain -}}
{{- if or (ne $plain $pool) (gt (len $plain) 18) (ne $plain (trimAll "-" $plain)) -}}
{{- $suffix = printf "%s-%s" $short (sha256sum $pool | trunc 6) | trimPrefix "-" -}}
{{- end -}}
{{- printf "%s-worker-%s" (include "millrace.fullname" $root) $suffix -}}
{{- end -}}

{{- /* Selector of pods by component: (list $ (list "api" "worker")). */ -}}
{{- define "millrace.components" -}}
matchLabels:
  {{- include "millrace.selector" (index . 0) | nindent 2 }}
matchExpressions:
  - { key: app.kubernetes.io/component, operator: In, values: {{ index . 1 | toJson }} }
{{- end -}}
