{{- /* What the fleet process reads: engine classes, and the Deployments from which those of pools are made. */ -}}
{{- define "millrace.fleetConfig" -}}
engine-classes.json: {{ dict "classes" .Values.fleet.engineClasses | toJson | quote }}
{{- range $engine := list "cpu" "comfyui" }}
{{- $own := mustMergeOverwrite (deepCopy $.Values.fleet.worker) (dict "engine" $engine) }}
{{- if eq $engine "cpu" }}
{{- $own = mustMergeOverwrite $own (dict "gpu" (dict "count" 0 "runtimeClassName" "")) }}
{{- end }}
{{- $pool := include "millrace.pool" (list $ $own) | fromYaml }}
{{ $engine }}.json: {{ include "millrace.workerDeployment" (list $ (printf "%s-deployment" (include "millrace.fullname" $)) "" $pool) | fromYaml | toJson | quote }}
{{- end }}
{{- end -}}
