{{- /*
Connections to PostgreSQL that the processes may hold together at their largest, and the Job that migrates: each process its pool
(MILLRACE_DATABASE_POOL_SIZE), and one for its readiness while all those are busy; maintenance one more, for locks. A rollout runs one
more of each kind.
*/ -}}
{{- define "millrace.connections" -}}
{{- $all := .Values.settings -}}
{{- $api := .Values.api -}}
{{- $sum := mul (add 1 (ternary $api.autoscaling.maxReplicas $api.replicas $api.autoscaling.enabled)) (include "millrace.poolSize" (list $all $api.settings)) -}}
{{- $sum = add $sum (mul (add 1 .Values.maintenance.replicas) (add 1 (include "millrace.poolSize" (list $all .Values.maintenance.settings)))) -}}
{{- if .Values.fleet.enabled -}}
{{- $sum = add $sum (mul (add 1 .Values.fleet.replicas) (include "millrace.poolSize" (list $all .Values.fleet.settings))) -}}
{{- end -}}
{{- if .Values.remoteWorkers.enabled -}}
{{- $sum = add $sum (mul (add 1 .Values.remoteWorkers.replicas) (include "millrace.poolSize" (list $all .Values.remoteWorkers.settings))) -}}
{{- end -}}
{{- range $own := .Values.workers -}}
{{- $pool := include "millrace.pool" (list $ $own) | fromYaml -}}
{{- $count := ternary $pool.replicas $pool.autoscaling.maxReplicas (eq $pool.autoscaling.kind "none") -}}
{{- $sum = add $sum (mul (add 1 $count) (include "millrace.poolSize" (list $all $pool.settings))) -}}
{{- end -}}
{{- add $sum 2 -}}
{{- end -}}

{{- /* Connections of one process: (list $settings $own). */ -}}
{{- define "millrace.poolSize" -}}
{{- $size := get (mustMergeOverwrite dict (deepCopy (index . 0)) (deepCopy (index . 1))) "MILLRACE_DATABASE_POOL_SIZE" | default 10 -}}
{{- add 1 (int $size) -}}
{{- end -}}
