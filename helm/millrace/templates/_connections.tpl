{{- /*
Who connects to PostgreSQL, as YAML: of each kind of process how many there are at their largest (`count`), how many a rollout starts
beside them (`surge`), and the connections of one: its pool (MILLRACE_DATABASE_POOL_SIZE), and one for its readiness while all those are
busy; maintenance one more, for locks. Workers that the fleet makes are as many as deployments ask for, and not known here.
*/ -}}
{{- define "millrace.connecting" -}}
{{- $all := .Values.settings -}}
{{- $api := .Values.api -}}
kinds:
  - { count: {{ ternary $api.autoscaling.maxReplicas $api.replicas $api.autoscaling.enabled }}, surge: 1, each: {{ include "millrace.poolSize" (list $all $api.settings) }} }
  - { count: {{ .Values.maintenance.replicas }}, surge: 1, each: {{ add 1 (include "millrace.poolSize" (list $all .Values.maintenance.settings)) }} }
{{- if .Values.fleet.enabled }}
  - { count: {{ .Values.fleet.replicas }}, surge: 1, each: {{ include "millrace.poolSize" (list $all .Values.fleet.settings) }} }
{{- end }}
{{- if .Values.remoteWorkers.enabled }}
  - { count: {{ .Values.remoteWorkers.replicas }}, surge: 1, each: {{ include "millrace.poolSize" (list $all .Values.remoteWorkers.settings) }} }
{{- end }}
{{- range $own := .Values.workers }}
{{- $pool := include "millrace.pool" (list $ $own) | fromYaml }}
{{- $count := ternary $pool.replicas $pool.autoscaling.maxReplicas (eq $pool.autoscaling.kind "none") | int }}
  - { count: {{ $count }}, surge: {{ include "millrace.surge" (list $count $pool.rollout.maxSurge) }}, each: {{ include "millrace.poolSize" (list $all $pool.settings) }} }
{{- end }}
{{- end -}}

{{- /* Workers that a rollout starts beside these, one at least: (list $count $maxSurge). Kubernetes rounds a share of them up. */ -}}
{{- define "millrace.surge" -}}
{{- $given := toString (index . 1) -}}
{{- $surge := trimSuffix "%" $given | int -}}
{{- if hasSuffix "%" $given }}{{ $surge = div (add (mul (index . 0) $surge) 99) 100 | int }}{{ end -}}
{{- max 1 (min (index . 0) $surge) -}}
{{- end -}}

{{- /* Connections that the processes may open together, in a rollout too, and the Job that migrates. */ -}}
{{- define "millrace.connections" -}}
{{- $sum := 2 -}}
{{- range (include "millrace.connecting" . | fromYaml).kinds }}{{ $sum = add $sum (mul (add .count .surge) .each) }}{{ end -}}
{{- $sum -}}
{{- end -}}

{{- /* Connections while the processes of a rollout before still drain, all of them beside all new ones. */ -}}
{{- define "millrace.drainingConnections" -}}
{{- $sum := 2 -}}
{{- range (include "millrace.connecting" . | fromYaml).kinds }}{{ $sum = add $sum (mul (add .count (max .count .surge)) .each) }}{{ end -}}
{{- $sum -}}
{{- end -}}

{{- /* Connections of one process: (list $settings $own). */ -}}
{{- define "millrace.poolSize" -}}
{{- $size := get (mustMergeOverwrite dict (deepCopy (index . 0)) (deepCopy (index . 1))) "MILLRACE_DATABASE_POOL_SIZE" | default 10 -}}
{{- add 1 (int $size) -}}
{{- end -}}
