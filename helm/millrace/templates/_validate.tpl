{{- /* Values that match the schema but do not work together: one sentence for each, all at once. */ -}}
{{- define "millrace.faults" -}}
{{- $v := .Values -}}
{{- if not $v.image.repository }}
image.repository is not set: build the images (docs/operations.md), push them, and set their common prefix, e.g. registry.example.com/millrace.
{{- end }}
{{- range $name, $key := dict "postgres" "url" "redis" "url" }}
{{- $server := index $v $name }}
{{- if and (not $server.bundled.enabled) (not $server.external.existingSecret) }}
{{ $name }}.external.existingSecret is not set: name a Secret with the connection URL, or set {{ $name }}.bundled.enabled for a demo.
{{- end }}
{{- if and $server.bundled.enabled $server.external.existingSecret }}
{{ $name }}.bundled.enabled and {{ $name }}.external.existingSecret are both set: choose one of them.
{{- end }}
{{- end }}
{{- if and (eq (toString (get $v.settings "MILLRACE_DATABASE_POOLER_MODE")) "transaction") (not $v.postgres.external.directKey) }}
postgres.external.directKey is not set, though settings.MILLRACE_DATABASE_POOLER_MODE is transaction: name the key with the URL of PostgreSQL itself, which locks need.
{{- end }}
{{- range $process, $key := $v.postgres.external.processKeys }}
{{- $direct := get $v.postgres.external.processDirectKeys $process }}
{{- if and $key $v.postgres.external.directKey (not $direct) }}
postgres.external.processDirectKeys.{{ $process }} is not set, though directKey says that there is a pooler: name the key with the URL of PostgreSQL itself for this user.
{{- end }}
{{- if and $direct (not $key) }}
postgres.external.processDirectKeys.{{ $process }} is set without postgres.external.processKeys.{{ $process }}: name both.
{{- end }}
{{- end }}
{{- $max := int $v.postgres.external.maxConnections }}
{{- $needed := include "millrace.connections" . | int }}
{{- if and $max (gt $needed $max) }}
postgres.external.maxConnections is {{ $max }}, and the processes may open {{ $needed }} connections: lower settings.MILLRACE_DATABASE_POOL_SIZE or the numbers of processes, or put a pooler between (docs/operations.md, "Connections").
{{- end }}
{{- if and $v.s3.bundled.enabled (or $v.s3.external.endpoint $v.s3.external.existingSecret) }}
s3.bundled.enabled is set beside s3.external: choose one of them.
{{- end }}
{{- if and $v.s3.bundled.enabled (not $v.s3.publicEndpoint) }}
s3.publicEndpoint is not set: with the bundled S3 server, say under which URL customers reach it, because download links lead there.
{{- end }}
{{- if and $v.s3.external.existingSecret $v.s3.external.roleFrom }}
s3.external.existingSecret and s3.external.roleFrom are both set: the keys of the Secret are used, so choose one of them.
{{- end }}
{{- if and $v.networkPolicy.enabled (not $v.s3.bundled.enabled) (not $v.s3.external.existingSecret) (not $v.s3.external.roleFrom) }}
s3.external.existingSecret and s3.external.roleFrom are not set: name a Secret with the keys of the bucket, or say where its credentials come from (machine, podIdentity, webIdentity or other), or the network policy would cut that off.
{{- end }}
{{- if $v.networkPolicy.enabled }}
{{- range $name := list "postgres" "redis" "s3" }}
{{- $server := index $v $name }}
{{- if and (not $server.bundled.enabled) (not $server.external.peers) }}
{{ $name }}.external.peers is empty: say where the server is, e.g. [{ipBlock: {cidr: 10.0.0.0/8}}], or the network policy would cut it off.
{{- end }}
{{- end }}
{{- end }}
{{- if and $v.networkPolicy.enabled $v.metrics.serviceMonitor.enabled (not $v.networkPolicy.opsFrom) }}
networkPolicy.opsFrom is empty, though metrics.serviceMonitor.enabled: name where Prometheus is, or the network policy would keep it out and no alert could ever fire.
{{- end }}
{{- if and (eq $v.migrations.mode "hook") (or $v.postgres.bundled.enabled (not $v.postgres.external.existingSecret)) }}
migrations.mode is hook, which runs before everything else: it needs postgres.external.existingSecret.
{{- end }}
{{- if and $v.selfHosted.existingSecret (ne $v.surface "self_hosted") }}
selfHosted.existingSecret is set, but surface is {{ $v.surface }}: set surface to self_hosted, or unset it.
{{- end }}
{{- if and $v.stripe.existingSecret (ne $v.surface "cloud") }}
stripe.existingSecret is set, but surface is {{ $v.surface }}, where nothing costs credits: set surface to cloud, or unset it.
{{- end }}
{{- if and $v.operators.existingSecret $v.tests.job }}
operators.existingSecret takes the shared admin token away, with which the test job makes its account: set tests.job to false.
{{- end }}
{{- /* What the processes get; an empty setting is as one that is not set. */ -}}
{{- $ofApi := mustMergeOverwrite dict (deepCopy $v.settings) (deepCopy $v.api.settings) }}
{{- $ofMaintenance := mustMergeOverwrite dict (deepCopy $v.settings) (deepCopy $v.maintenance.settings) }}
{{- if and $v.operators.existingSecret (not (get $ofApi "MILLRACE_OPERATORS_ISSUER")) }}
operators.existingSecret is set without a provider: name it with MILLRACE_OPERATORS_ISSUER, _CLIENT_ID, _URL and _ROLES under settings.
{{- end }}
{{- if $v.mail.existingSecret }}
{{- if not (get $ofApi "MILLRACE_PUBLIC_URL") }}
mail.existingSecret is set without settings.MILLRACE_PUBLIC_URL: name the origin of the API, to which links in mails lead.
{{- end }}
{{- if not (get $ofMaintenance "MILLRACE_MAIL_FROM") }}
mail.existingSecret is set without settings.MILLRACE_MAIL_FROM: name from whom mail comes, e.g. Millrace <no-reply@example.com>, as mail servers refuse what comes from an address at localhost.
{{- end }}
{{- if or (get $ofApi "MILLRACE_MAIL_FOLDER") (get $ofMaintenance "MILLRACE_MAIL_FOLDER") }}
mail.existingSecret is set beside settings.MILLRACE_MAIL_FOLDER: choose whether mail is sent or written into a folder, and unset the other.
{{- end }}
{{- end }}
{{- if and $v.metrics.status.prometheusUrl $v.networkPolicy.enabled (not $v.metrics.status.peers) }}
metrics.status.peers is empty: say where that Prometheus is, or the network policy would cut the status page off from it.
{{- end }}
{{- if and $v.fleet.enabled $v.networkPolicy.enabled (not $v.fleet.apiServer.peers) }}
fleet.apiServer.peers is empty: say where the Kubernetes API server is (kubectl get endpoints kubernetes), e.g. [{ipBlock: {cidr: 10.0.0.1/32}}], or the network policy would cut the fleet off.
{{- end }}
{{- if $v.fleet.enabled }}
{{- $worker := set (include "millrace.pool" (list $ $v.fleet.worker) | fromYaml) "engine" "comfyui" }}
{{- include "millrace.validateModelCache" (list "fleet.worker" $worker) }}
{{- $image := dig "comfyui" "image" $v.workerDefaults.comfyui.image $v.fleet.worker }}
{{- range $class := $v.fleet.engineClasses }}
{{- if and (eq $class.engine "comfyui") (not $class.image) (not $image) }}
fleet.engineClasses: the class {{ $class.name }} has no image, and there is none in fleet.worker.comfyui.image: name one with ComfyUI.
{{- end }}
{{- end }}
{{- end }}
{{- if not (hasKey $v.workers $v.defaultPool) }}
defaultPool is {{ $v.defaultPool }}, which is no key of workers: jobs sent there would wait forever.
{{- end }}
{{- if and $v.api.autoscaling.enabled (gt (int $v.api.autoscaling.minReplicas) (int $v.api.autoscaling.maxReplicas)) }}
api.autoscaling.minReplicas is above api.autoscaling.maxReplicas: lower one or raise the other.
{{- end }}
{{- if and $v.ingress.enabled (not $v.ingress.host) }}
ingress.host is not set: name the host of the API.
{{- end }}
{{- if and $v.ingress.deploymentHosts (not (get $ofApi "MILLRACE_DEPLOYMENT_DOMAIN")) }}
ingress.deploymentHosts needs settings.MILLRACE_DEPLOYMENT_DOMAIN, the domain under which deployments have hosts of their own.
{{- end }}
{{- $domain := get $ofApi "MILLRACE_DEPLOYMENT_DOMAIN" }}
{{- if and $v.ingress.enabled $v.ingress.host $domain (hasSuffix (printf ".%s" $domain) $v.ingress.host) (not (get $ofApi "MILLRACE_PUBLIC_URL")) }}
ingress.host is below settings.MILLRACE_DEPLOYMENT_DOMAIN, where every name is taken for a deployment's: set settings.MILLRACE_PUBLIC_URL to the origin of the API, e.g. https://{{ $v.ingress.host }}.
{{- end }}
{{- if and $v.gateway.enabled (not $v.gateway.parentRefs) }}
gateway.parentRefs is empty: name the Gateway that the HTTPRoute joins.
{{- end }}
{{- range $name, $own := $v.workers }}
{{- $pool := include "millrace.pool" (list $ $own) | fromYaml }}
{{- $comfyui := eq $pool.engine "comfyui" }}
{{- $isDeployment := regexMatch "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$" $name }}
{{- if not (or (eq $name $v.defaultPool) $isDeployment $pool.formerDefault) }}
workers.{{ $name }} would never get a job: a pool is `defaultPool`, or has the id of a deployment as its name. Set defaultPool to it, rename it, or set formerDefault while it ends what it has.
{{- end }}
{{- if and $comfyui (eq $pool.comfyui.mode "sidecar") (not $pool.comfyui.image) }}
workers.{{ $name }}.comfyui.image is not set: name an image with ComfyUI in its working directory, or set comfyui.mode to external.
{{- end }}
{{- if and $comfyui (eq $pool.comfyui.mode "external") (not $pool.comfyui.urls) }}
workers.{{ $name }}.comfyui.urls is empty: name the ComfyUI servers of this pool, or set comfyui.mode to sidecar.
{{- end }}
{{- if and $comfyui (eq $pool.comfyui.mode "external") $v.networkPolicy.enabled (not $pool.comfyui.peers) }}
workers.{{ $name }}.comfyui.peers is empty: say where those servers are, or the network policy would cut them off.
{{- end }}
{{- if and $comfyui (eq $pool.comfyui.mode "external") (or (gt (int $pool.replicas) 1) (ne $pool.autoscaling.kind "none")) }}
workers.{{ $name }} has more than one replica on external ComfyUI servers, and a server may have one worker only: set replicas to 1 and autoscaling.kind to none, or make a pool for each.
{{- end }}
{{- include "millrace.validateModelCache" (list (printf "workers.%s" $name) $pool) }}
{{- if and (not $comfyui) (gt (int $pool.gpu.count) 0) }}
workers.{{ $name }}.gpu.count is {{ $pool.gpu.count }}, but the engine cpu uses no GPU: set engine to comfyui, or gpu.count to 0.
{{- end }}
{{- if and $comfyui (gt (int $pool.capacity) 1) }}
workers.{{ $name }}.capacity is {{ $pool.capacity }}, but a ComfyUI runs one job at a time: set capacity to 1.
{{- end }}
{{- with $pool.autoscaling }}
{{- if and (ne .kind "none") (gt (int .minReplicas) (int .maxReplicas)) }}
workers.{{ $name }}.autoscaling.minReplicas is above maxReplicas: lower one or raise the other.
{{- end }}
{{- if and (eq .kind "keda") (not .prometheusUrl) }}
workers.{{ $name }}.autoscaling.prometheusUrl is not set: KEDA queries that Prometheus for the amount of work.
{{- end }}
{{- if and (eq .kind "hpa") (lt (int .minReplicas) 1) }}
workers.{{ $name }}.autoscaling.minReplicas is 0, which a plain HorizontalPodAutoscaler refuses: set it to 1, or kind to keda.
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* What is wrong with the model cache of a pool: (list "workers.name" $pool). */ -}}
{{- define "millrace.validateModelCache" -}}
{{- $at := index . 0 }}
{{- $pool := index . 1 }}
{{- $cache := $pool.comfyui.modelCache }}
{{- if and (ne $cache.kind "none") (or (ne $pool.engine "comfyui") (ne $pool.comfyui.mode "sidecar")) }}
{{ $at }}.comfyui.modelCache.kind is {{ $cache.kind }}, but only a ComfyUI in the worker's pod can read its models: set engine to comfyui and comfyui.mode to sidecar, or kind to none.
{{- end }}
{{- if and (eq $cache.kind "hostPath") (not $cache.hostPath) }}
{{ $at }}.comfyui.modelCache.hostPath is not set: name a folder of the nodes that user 1000 can write to.
{{- end }}
{{- if and (eq $cache.kind "claim") (not $cache.existingClaim) }}
{{ $at }}.comfyui.modelCache.existingClaim is not set: name a volume claim, or set kind to emptyDir.
{{- end }}
{{- end -}}
