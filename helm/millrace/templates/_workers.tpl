{{- /*
The Deployment of the workers of a pool: (list $ "name" "pool" $pool). Without a pool it is a template, of which the fleet process
makes those of deployments: it gives them name, pool, replicas, selector, and what their engine class has.
*/ -}}
{{- define "millrace.workerDeployment" -}}
{{- $root := index . 0 }}
{{- $name := index . 1 }}
{{- $key := index . 2 }}
{{- $pool := index . 3 }}
{{- $selector := printf "%s\napp.kubernetes.io/component: worker" (include "millrace.selector" $root) }}
{{- if $key }}
{{- $selector = printf "%s\nmillrace/pool: %s" $selector ($key | quote) }}
{{- end }}
{{- $kept := "" }}
{{- /* The template of the fleet stays as it is, so that its workers are of the same revision afterwards. */ -}}
{{- $stopped := and $key $root.Values.stopped }}
{{- if and $key (not $stopped) (ne $pool.autoscaling.kind "none") }}
{{- $kept = include "millrace.keptReplicas" (list $root $name $pool.autoscaling.kind) }}
{{- end }}
{{- $stop := 30 }}
{{- $grace := add $pool.drainSeconds $stop 15 }}
{{- $sidecar := and (eq $pool.engine "comfyui") (eq $pool.comfyui.mode "sidecar") }}
{{- $cached := and $sidecar (ne $pool.comfyui.modelCache.kind "none") }}
{{- /* One for each pod: workers may share the volume, and exchange what is in it for each run. */ -}}
{{- $links := "/model-cache/pods/$(POD_NAME)" }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  labels:
    {{- include "millrace.labels" $root | nindent 4 }}
    app.kubernetes.io/component: worker
    {{- if $key }}
    millrace/pool: {{ $key | quote }}
    {{- end }}
  {{- if $kept }}
  annotations: { millrace/replicas: kept }
  {{- end }}
spec:
  {{- if $stopped }}
  replicas: 0
  {{- else if eq $pool.autoscaling.kind "none" }}
  replicas: {{ $pool.replicas }}
  {{- else if $kept }}
  replicas: {{ $kept }}
  {{- end }}
  strategy:
    type: RollingUpdate
    {{- $byEngine := ternary (dict "maxSurge" 0 "maxUnavailable" "50%") (dict "maxSurge" 1 "maxUnavailable" 0) (eq $pool.engine "comfyui") }}
    rollingUpdate:
      {{- range $name, $default := $byEngine }}
      {{- $given := get $pool.rollout $name | toString }}
      {{ $name }}: {{ if eq $given "" }}{{ $default }}{{ else }}{{ $given }}{{ end }}
      {{- end }}
  # A draining worker delays a rollout for as long as its job runs.
  progressDeadlineSeconds: {{ add $grace 600 }}
  selector:
    matchLabels:
      {{- $selector | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "millrace.labels" $root | nindent 8 }}
        app.kubernetes.io/component: worker
        {{- if $key }}
        millrace/pool: {{ $key | quote }}
        {{- end }}
        millrace/metrics: served
        {{- if $pool.internetAccess }}
        millrace/internet: allowed
        {{- end }}
      annotations:
        # Do not evict a running job to save a node.
        cluster-autoscaler.kubernetes.io/safe-to-evict: "false"
        karpenter.sh/do-not-disrupt: "true"
    spec:
      {{- include "millrace.podCommon" (list $root $pool.placement $selector) | nindent 6 }}
      {{- with $pool.gpu.runtimeClassName }}
      runtimeClassName: {{ . }}
      {{- end }}
      # After SIGTERM the worker takes no more attempts, lets those that run end for the drain, and stops in order.
      terminationGracePeriodSeconds: {{ $grace }}
      {{- if $sidecar }}
      initContainers:
        - name: folders
          image: {{ include "millrace.image" (list $root "worker") }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          securityContext:
            {{- include "millrace.containerSecurity" $root | nindent 12 }}
          {{- if $cached }}
          # ComfyUI reads the file when it starts, which is before the worker does.
          command:
            - /bin/sh
            - -c
            - |
              set -e
              mkdir -p /data/input /data/output /data/user "$LINKS"
              cat > "$LINKS/extra_model_paths.yaml" <<'END'
              {{- $root.Files.Get "files/extra_model_paths.yaml" | trimSuffix "\n" | nindent 14 }}
              END
          env:
            {{- include "millrace.podName" $root | nindent 12 }}
            - { name: LINKS, value: {{ $links | quote }} }
          {{- else }}
          command: [mkdir, -p, /data/input, /data/output, /data/user]
          {{- end }}
          resources:
            {{- toYaml $pool.resources | nindent 12 }}
          volumeMounts:
            - { name: comfyui-data, mountPath: /data }
            {{- if $cached }}
            - { name: model-cache, mountPath: /model-cache }
            {{- end }}
        # A native sidecar: it is stopped after the worker, so that a draining worker keeps its engine.
        - name: comfyui
          restartPolicy: Always
          image: {{ include "millrace.otherImage" $pool.comfyui }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          command:
            - /bin/sh
            - -c
            - |
              {{- $root.Files.Get "files/run-comfyui.sh" | nindent 14 }}
            - comfyui
          args:
            {{- $needed := list "--listen" "127.0.0.1" "--port" "8188" "--disable-metadata" "--log-stdout" "--preview-method" "auto" "--input-directory" "/data/input" "--output-directory" "/data/output" "--temp-directory" "/data" "--user-directory" "/data/user" }}
            {{- if $cached }}
            {{- $needed = concat $needed (list "--extra-model-paths-config" (printf "%s/extra_model_paths.yaml" $links)) }}
            {{- end }}
            {{- toYaml (concat $pool.comfyui.command $needed $pool.comfyui.args) | nindent 12 }}
          securityContext:
            {{- include "millrace.containerSecurity" $root | nindent 12 }}
          env:
            - { name: HOME, value: /data }
            - { name: COMFYUI_RESTART_FILE, value: /data/restart }
            {{- if $cached }}
            {{- include "millrace.podName" $root | nindent 12 }}
            {{- end }}
          # It listens only on the pod's loopback, which the kubelet cannot reach, so the probes run inside.
          startupProbe:
            exec:
              command: [python, -c, "from urllib.request import urlopen; urlopen('http://127.0.0.1:8188/system_stats', timeout=4)"]
            periodSeconds: 5
            timeoutSeconds: 5
            failureThreshold: {{ div (add $pool.comfyui.startSeconds 4) 5 }}
            terminationGracePeriodSeconds: 10
          # A node that computes can hold every answer up. By then the worker has given up its run
          # (MILLRACE_COMFYUI_UNREACHABLE_SECONDS); one without answers for twice as long hangs.
          {{- $unreachable := get (mustMergeOverwrite dict (deepCopy $root.Values.settings) (deepCopy $pool.settings)) "MILLRACE_COMFYUI_UNREACHABLE_SECONDS" | default 30 | int }}
          livenessProbe:
            exec:
              command: [python, -c, "from urllib.request import urlopen; urlopen('http://127.0.0.1:8188/system_stats', timeout=20)"]
            periodSeconds: 30
            timeoutSeconds: 25
            failureThreshold: {{ max 4 (div (add (mul 2 $unreachable) 29) 30) }}
            # Not the pod's, which has the drain in it: what hangs has nothing to finish.
            terminationGracePeriodSeconds: 10
          {{- $resources := deepCopy $pool.comfyui.resources }}
          {{- if gt (int $pool.gpu.count) 0 }}
          {{- $resources = mustMergeOverwrite $resources (dict "limits" (dict $pool.gpu.resource (int $pool.gpu.count))) }}
          {{- end }}
          resources:
            {{- toYaml $resources | nindent 12 }}
          volumeMounts:
            - { name: comfyui-data, mountPath: /data }
            - { name: comfyui-tmp, mountPath: /tmp }
            - { name: shm, mountPath: /dev/shm }
            - name: models
              mountPath: {{ $pool.comfyui.models.mountPath }}
              {{- if $pool.comfyui.models.existingClaim }}
              readOnly: true
              {{- end }}
            {{- if $cached }}
            - { name: model-cache, mountPath: /model-cache, readOnly: true }
            {{- end }}
      {{- end }}
      containers:
        - name: worker
          image: {{ include "millrace.image" (list $root "worker") }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          securityContext:
            {{- include "millrace.containerSecurity" $root | nindent 12 }}
          env:
            {{- include "millrace.env" (list $root "worker" $pool.settings $pool.resources) | nindent 12 }}
            {{- if $key }}
            - name: MILLRACE_POOL
              value: {{ $key | quote }}
            {{- end }}
            - name: MILLRACE_ENGINE
              value: {{ $pool.engine }}
            {{- if eq $pool.engine "cpu" }}
            - name: MILLRACE_WORKER_CAPACITY
              value: {{ $pool.capacity | quote }}
            {{- else if $sidecar }}
            - name: MILLRACE_COMFYUI_URL
              value: http://127.0.0.1:8188
            # The sidecar's folder: files are copied instead of sent, and removed after each run.
            - name: MILLRACE_COMFYUI_DATA_DIR
              value: /data
            - name: MILLRACE_COMFYUI_RESTART_FILE
              value: /data/restart
            {{- if $cached }}
            {{- include "millrace.podName" $root | nindent 12 }}
            - name: MILLRACE_MODEL_CACHE_DIR
              value: /model-cache/cache
            - name: MILLRACE_MODEL_CACHE_BYTES
              value: {{ int64 $pool.comfyui.modelCache.bytes | quote }}
            - name: MILLRACE_COMFYUI_MODELS_DIR
              value: {{ $links | quote }}
            {{- end }}
            {{- else }}
            - name: MILLRACE_COMFYUI_URL
              value: {{ join "," $pool.comfyui.urls | quote }}
            {{- end }}
            - name: MILLRACE_WORK_DIR
              value: /work/attempts
            - name: MILLRACE_DRAIN_SECONDS
              value: {{ $pool.drainSeconds | quote }}
            - name: MILLRACE_STOP_SECONDS
              value: {{ $stop | quote }}
            {{- include "millrace.secretEnv" (list "MILLRACE_SECRET_KEY" (include "millrace.secretName" $root) "secret-key") | nindent 12 }}
          ports:
            {{- include "millrace.ports.ops" $root | nindent 12 }}
          {{- include "millrace.probes" (ternary (div (add $pool.comfyui.startSeconds 1) 2) 60 (eq $pool.engine "comfyui")) | nindent 10 }}
          resources:
            {{- toYaml $pool.resources | nindent 12 }}
          volumeMounts:
            - { name: tmp, mountPath: /tmp }
            - { name: work, mountPath: /work }
            {{- with (include "millrace.extraVolumeMounts" $root) }}
            {{- . | nindent 12 }}
            {{- end }}
            {{- if $sidecar }}
            - { name: comfyui-data, mountPath: /data }
            {{- end }}
            {{- if $cached }}
            - { name: model-cache, mountPath: /model-cache }
            {{- end }}
      volumes:
        - name: tmp
          emptyDir: { sizeLimit: {{ $pool.tmpSize }} }
        {{- with (include "millrace.extraVolumes" $root) }}
        {{- . | nindent 8 }}
        {{- end }}
        - name: work
          emptyDir: { sizeLimit: {{ $pool.workDirSize }} }
        {{- if $sidecar }}
        - name: comfyui-data
          emptyDir: { sizeLimit: {{ $pool.workDirSize }} }
        - name: comfyui-tmp
          emptyDir: { sizeLimit: {{ $pool.comfyui.tmpSize }} }
        - name: shm
          emptyDir: { medium: Memory, sizeLimit: {{ $pool.comfyui.shmSize }} }
        {{- if $cached }}
        - name: model-cache
          {{- with $pool.comfyui.modelCache }}
          {{- if eq .kind "hostPath" }}
          hostPath: { path: {{ .hostPath }}, type: Directory }
          {{- else if eq .kind "claim" }}
          persistentVolumeClaim: { claimName: {{ .existingClaim }} }
          {{- else }}
          emptyDir: { sizeLimit: "{{ add (int64 .bytes) 1073741824 }}" }
          {{- end }}
          {{- end }}
        {{- end }}
        - name: models
          {{- if $pool.comfyui.models.existingClaim }}
          persistentVolumeClaim: { claimName: {{ $pool.comfyui.models.existingClaim }}, readOnly: true }
          {{- else }}
          emptyDir: { sizeLimit: {{ $pool.comfyui.models.size }} }
          {{- end }}
        {{- end }}
{{- end -}}
