import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MODEL_PATHS_FILE, ModelCache } from '@millrace/model-cache';
import { Metrics, createLogger } from '@millrace/platform';
import { createTestFolder } from '@millrace/testing';
import { listSettings } from '../../scripts/lib/chart/settings-list.mjs';
import { CI_SETS, ROOT, render, template, type Manifest } from './support/helm';
import { containerOf, envOf, podOf, podsOf, type PodOf } from './support/parts';

/** A deployment's pool of ci/ha.yaml, and its Deployment. */
const ON_GPUS = '3f0c9b52-6f0e-4d0c-8a0e-5d8f3b1c7e21';
const WORKER_ON_GPUS = 'rel-millrace-worker-3f0c9b52-6f-7f319a';
const PROCESSES = ['api', 'worker', 'maintenance'];
const rendered = new Map<string, Manifest[]>();
const of = (set: string): Manifest[] => rendered.get(set) ?? [];
const kind = (set: string, wanted: string): Manifest[] => of(set).filter((manifest) => manifest.kind === wanted);
const allPods = (): PodOf[] => CI_SETS.flatMap((set) => podsOf(of(set)));
const processPods = (): PodOf[] => allPods().filter(({ component }) => PROCESSES.includes(component));

beforeAll(async () => {
  for (const set of CI_SETS) rendered.set(set, await render(set));
});

describe('a process', () => {
  it('gets settings that it knows, and those that it cannot do without', () => {
    const settings = listSettings();
    expect(processPods().length).toBeGreaterThan(CI_SETS.length * PROCESSES.length - 1);
    for (const pod of processPods()) {
      const names = Object.keys(envOf(containerOf(pod, pod.component)));
      const known = settings.filter(({ processes }) => processes.includes(pod.component)).map(({ setting }) => setting);
      expect([
        pod.name,
        names.filter(
          (name) => !['NODE_ENV', 'NODE_OPTIONS', 'POD_NAME', ...known.map(({ name }) => name)].includes(name),
        ),
      ]).toEqual([pod.name, []]);
      const required = known.filter(({ schema }) => !schema.safeParse(undefined).success).map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(required));
      expect(names.length).toBe(new Set(names).size);
    }
  });

  it('gets values that it accepts', () => {
    const settings = new Map(listSettings().map(({ setting }) => [setting.name, setting]));
    for (const pod of processPods()) {
      for (const [name, value] of Object.entries(envOf(containerOf(pod, pod.component)))) {
        const setting = settings.get(name);
        if (setting === undefined || setting.secret || /_ACCESS_KEY_ID$/.test(name)) continue;
        expect([pod.name, name, setting.schema.safeParse(value).error?.message]).toEqual([pod.name, name, undefined]);
      }
    }
  });

  it('gets each credential from a Secret and no other way', () => {
    const secret = listSettings().filter(({ setting }) => setting.secret);
    for (const pod of processPods()) {
      for (const { name, value } of containerOf(pod, pod.component).env ?? []) {
        if (secret.some(({ setting }) => setting.name === name))
          expect([pod.name, name, value]).toEqual([pod.name, name, undefined]);
      }
    }
  });

  it('is asked whether it has started, is ready and alive, on its ops port', () => {
    for (const pod of processPods()) {
      const { startupProbe, readinessProbe, livenessProbe } = containerOf(pod, pod.component);
      expect(startupProbe?.httpGet).toEqual({ path: '/health/startup', port: 'ops' });
      expect(readinessProbe?.httpGet).toEqual({ path: '/health/ready', port: 'ops' });
      expect(livenessProbe?.httpGet).toEqual({ path: '/health/live', port: 'ops' });
    }
  });

  it('has longer to stop than it takes by its own settings', () => {
    for (const pod of processPods()) {
      const env = envOf(containerOf(pod, pod.component));
      const drain = Number(env.MILLRACE_DRAIN_SECONDS ?? 0);
      const stop = Number(env.MILLRACE_STOP_SECONDS);
      // The api drains within its stop, after the pause of preStop; a worker's stop begins after its drain.
      const needed = pod.component === 'worker' ? drain + stop : stop + (pod.component === 'api' ? 5 : 0);
      if (pod.component === 'api') expect(stop).toBeGreaterThan(drain);
      expect(pod.spec.terminationGracePeriodSeconds).toBeGreaterThan(needed);
    }
  });
});

describe('every pod', () => {
  it('is restricted: no root, no privileges, nothing to write to but what is mounted, no token but that of the fleet', () => {
    for (const { name, component, spec } of allPods()) {
      expect([name, spec.automountServiceAccountToken]).toEqual([name, component === 'fleet']);
      expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
      expect(spec.securityContext?.runAsUser).toBeGreaterThan(0);
      for (const { securityContext } of [...spec.containers, ...(spec.initContainers ?? [])]) {
        expect(securityContext).toMatchObject({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    }
  });

  it('has a memory limit wherever it stays', () => {
    for (const pod of allPods().filter(({ component }) => component !== 'test')) {
      for (const container of [...pod.spec.containers, ...(pod.spec.initContainers ?? [])]) {
        expect([pod.name, container.name, typeof container.resources?.limits?.memory]).toEqual([
          pod.name,
          container.name,
          'string',
        ]);
      }
    }
  });

  it('has a heap that leaves two fifths of its memory to buffers and code', () => {
    const heaps = allPods().flatMap(({ component, spec }) =>
      spec.containers.flatMap(({ name, env, resources }) => {
        const options = env?.find((variable) => variable.name === 'NODE_OPTIONS')?.value;
        return options === undefined ? [] : [[component, name, options, resources?.limits?.memory]];
      }),
    );
    expect(heaps).toContainEqual(['api', 'api', '--max-old-space-size=460', '768Mi']);
    expect(new Set(heaps.map(([component]) => component))).toEqual(
      new Set(['api', 'fleet', 'gateway', 'maintenance', 'worker']),
    );
  });

  it('mounts every volume that it has, and has every one that it mounts', () => {
    for (const { name, spec } of allPods()) {
      const mounted = [...spec.containers, ...(spec.initContainers ?? [])].flatMap(
        ({ volumeMounts }) => volumeMounts ?? [],
      );
      const volumes = (spec.volumes ?? []).map((volume) => volume.name);
      const claimed = ['data', 'store'].filter((claim) => mounted.some((mount) => mount.name === claim));
      expect([name, [...new Set(mounted.map((mount) => mount.name))].sort()]).toEqual([
        name,
        [...new Set([...volumes, ...claimed])].sort(),
      ]);
    }
  });
});

describe('workers', () => {
  it('on GPUs have them as a limit of the engine, which outlives the worker', () => {
    const pod = podOf(of('ha'), WORKER_ON_GPUS);
    expect(pod.spec.runtimeClassName).toBe('nvidia');
    expect(pod.spec.tolerations).toHaveLength(1);
    const sidecar = containerOf(pod, 'comfyui');
    expect(sidecar).toMatchObject({ name: 'comfyui', restartPolicy: 'Always' });
    expect(sidecar.resources?.limits).toMatchObject({ 'nvidia.com/gpu': 1 });
    expect(containerOf(pod, 'worker').resources?.limits).not.toHaveProperty('nvidia.com/gpu');
    expect(sidecar.args).toEqual(expect.arrayContaining(['--listen', '127.0.0.1', '--disable-metadata']));
    expect(sidecar.volumeMounts).toContainEqual({ name: 'models', mountPath: '/comfyui/models', readOnly: true });
    const shared = { name: 'comfyui-data', mountPath: envOf(containerOf(pod, 'worker')).MILLRACE_COMFYUI_DATA_DIR };
    for (const name of ['worker', 'comfyui']) expect(containerOf(pod, name).volumeMounts).toContainEqual(shared);
    expect(pod.spec.volumes).toContainEqual({ name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: '8Gi' } });
  });

  describe('that keep models of the library', () => {
    it('show them to their ComfyUI by links of this pod alone, on the volume that has them', () => {
      const pod = podOf(of('ha'), WORKER_ON_GPUS);
      const [worker, comfyui, folders] = ['worker', 'comfyui', 'folders'].map((name) => containerOf(pod, name));
      if (!worker || !comfyui || !folders) throw new Error('the pod has three');
      const links = '/model-cache/pods/$(POD_NAME)';
      expect(envOf(worker)).toMatchObject({
        MILLRACE_MODEL_CACHE_DIR: '/model-cache/cache',
        MILLRACE_MODEL_CACHE_BYTES: '500000000000',
        MILLRACE_COMFYUI_MODELS_DIR: links,
      });
      expect(comfyui.args?.join(' ')).toContain(`--extra-model-paths-config ${links}/extra_model_paths.yaml`);
      expect(envOf(folders).LINKS).toBe(links);
      const name = 'model-cache';
      for (const { env, volumeMounts } of [worker, comfyui, folders]) {
        expect(env).toContainEqual({ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } });
        expect(volumeMounts).toContainEqual(expect.objectContaining({ name, mountPath: '/model-cache' }));
      }
      const hostPath = { path: '/var/lib/millrace/models', type: 'Directory' };
      expect(pod.spec.volumes).toContainEqual({ name, hostPath });
    });

    it.each([
      [{ kind: 'emptyDir', bytes: 5_000_000_000 }, { emptyDir: { sizeLimit: '6073741824' } }],
      [{ kind: 'claim', existingClaim: 'cache' }, { persistentVolumeClaim: { claimName: 'cache' } }],
    ])('have the volume that the values name: %j', async (modelCache, volume) => {
      const manifests = await render('ha', { workers: { [ON_GPUS]: { comfyui: { modelCache } } } });
      expect(podOf(manifests, WORKER_ON_GPUS).spec.volumes).toContainEqual({ name: 'model-cache', ...volume });
    });

    it('start it with the file that the worker would write', async () => {
      const folder = await createTestFolder();
      const metrics = new Metrics('test');
      const options = { budgetBytes: 1_000_000, isGone: () => false, metrics, logger: createLogger('test', 'silent') };
      const source = { find: () => Promise.resolve([]), open: () => Promise.reject(new Error('not read')) };
      const cache = await ModelCache.open({ ...options, dir: folder.path, source });
      const { path } = await cache.linksOfEngine();
      const written = readFileSync(join(path, MODEL_PATHS_FILE), 'utf8');
      await cache.close();
      await folder.drop();
      const [, , script] = containerOf(podOf(of('ha'), WORKER_ON_GPUS), 'folders').command ?? [];
      expect(script).toContain(`\n${written}END\n`);
    });

    it('are not among those that the values do not name', () => {
      for (const { spec } of allPods()) {
        const worker = spec.containers.find(({ name }) => name === 'worker');
        const hasCache = (spec.volumes ?? []).some(({ name }) => name === 'model-cache');
        if (worker) expect('MILLRACE_MODEL_CACHE_DIR' in envOf(worker)).toBe(hasCache);
      }
    });
  });

  it('have a ComfyUI restarted that answers nothing for longer than any run waits for it', async () => {
    const MILLRACE_COMFYUI_UNREACHABLE_SECONDS = 300;
    const longer = await render('ha', {
      workers: { [ON_GPUS]: { settings: { MILLRACE_COMFYUI_UNREACHABLE_SECONDS } } },
    });
    const secondsOf = (manifests: Manifest[]): number => {
      const { livenessProbe } = containerOf(podOf(manifests, WORKER_ON_GPUS), 'comfyui');
      return (livenessProbe?.periodSeconds ?? 0) * (livenessProbe?.failureThreshold ?? 0);
    };
    expect([secondsOf(of('ha')), secondsOf(longer)]).toEqual([120, 600]);
  });

  it('and their ComfyUI agree on the file by which a restart is requested', () => {
    const pod = podOf(of('ha'), WORKER_ON_GPUS);
    const [worker, comfyui] = ['worker', 'comfyui'].map((name) => envOf(containerOf(pod, name)));
    expect(comfyui?.COMFYUI_RESTART_FILE).toBe('/data/restart');
    expect(worker?.MILLRACE_COMFYUI_RESTART_FILE).toBe('/data/restart');
    expect(containerOf(pod, 'comfyui').command?.slice(0, 2)).toEqual(['/bin/sh', '-c']);
    expect(containerOf(pod, 'comfyui').args?.slice(0, 2)).toEqual(['python', 'main.py']);
  });

  it('are replaced as the values say, and several on GPUs at once', async () => {
    const strategyOf = (manifests: Manifest[], name: string): unknown =>
      manifests.find((one) => one.kind === 'Deployment' && one.metadata.name === name)?.spec;
    const changed = await render('ha', { workers: { [ON_GPUS]: { rollout: { maxSurge: '25%', maxUnavailable: 2 } } } });
    const rolling = (rollingUpdate: object): object => ({ strategy: { type: 'RollingUpdate', rollingUpdate } });
    expect(strategyOf(of('ha'), WORKER_ON_GPUS)).toMatchObject(rolling({ maxSurge: 0, maxUnavailable: '50%' }));
    expect(strategyOf(changed, WORKER_ON_GPUS)).toMatchObject(rolling({ maxSurge: '25%', maxUnavailable: 2 }));
  });

  it('are not moved off their node while they work', () => {
    const workers = processPods().filter(({ component }) => component === 'worker');
    for (const { annotations } of workers) {
      expect(annotations).toMatchObject({
        'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
        'karpenter.sh/do-not-disrupt': 'true',
      });
    }
  });

  it('scale by a metric that the maintenance processes export, with a fallback', () => {
    const declared = exportedNames();
    const objects = kind('ha', 'ScaledObject');
    expect(objects.map(({ metadata }) => metadata.name)).toEqual([WORKER_ON_GPUS, 'rel-millrace-worker-default']);
    for (const { spec } of objects) {
      const { triggers, fallback } = spec as { triggers: { metadata: Record<string, string> }[]; fallback: object };
      expect(fallback).toEqual({ failureThreshold: 3, replicas: 1 });
      const [, metric = ''] =
        /^max\((\w+)\{namespace="apps",pool="[\w-]+"\}\)$/.exec(triggers[0]?.metadata.query ?? '') ?? [];
      expect(declared).toContain(metric);
    }
    const [hpa] = kind('ha', 'HorizontalPodAutoscaler').filter(({ metadata }) => metadata.name.includes('worker'));
    expect(JSON.stringify(hpa?.spec)).toContain('"name":"millrace_pool_pending_jobs"');
    expect(
      kind('ha', 'Deployment')
        .filter(({ spec }) => 'replicas' in (spec as object))
        .map(({ metadata }) => metadata.name),
    ).toEqual(['rel-millrace-fleet', 'rel-millrace-maintenance']);
  });

  it('of pools whose names Kubernetes refuses get names that it takes, and keep the true one', async () => {
    const pods = podsOf(await render('minimal', { workers: { Video_Long: { formerDefault: true } } }));
    const pod = pods.find(({ labels }) => labels['millrace/pool'] === 'Video_Long');
    expect(pod?.name).toMatch(/^rel-millrace-worker-video-long-[0-9a-f]{6}$/);
    expect(envOf(containerOf(pod ?? fail(), 'worker')).MILLRACE_POOL).toBe('Video_Long');
  });
});

function fail(): never {
  throw new Error('there is no such pod');
}

describe('workers outside the cluster', () => {
  it('reach the gateway alone, by the way in of the API, and it reaches what a worker does', () => {
    const [route] = kind('gateway', 'HTTPRoute');
    const { rules } = route?.spec as { rules: { matches: object[]; backendRefs: object[] }[] };
    expect(rules.map(({ matches, backendRefs }) => [matches, backendRefs])).toEqual([
      [[{ path: { type: 'PathPrefix', value: '/gateway/v1' } }], [{ name: 'rel-millrace-gateway', port: 80 }]],
      [[{ path: { type: 'PathPrefix', value: '/' } }], [{ name: 'rel-millrace-api', port: 80 }]],
    ]);
    const policies = kind('gateway', 'NetworkPolicy').filter(({ spec }) => JSON.stringify(spec).includes('"gateway"'));
    expect(policies.map(({ metadata }) => metadata.name.replace('rel-millrace-', '')).sort()).toEqual(
      ['ops', 'remote-workers', 'to-postgres', 'to-redis', 'to-s3'].sort(),
    );
  });

  it('have no gateway unless it is enabled', () => {
    expect(JSON.stringify(of('ha'))).not.toContain('rel-millrace-gateway');
  });
});

it('what a probe ends gets seconds for it, and not the time for which a worker drains', () => {
  for (const { spec } of processPods()) {
    for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
      for (const probe of [container.startupProbe, container.livenessProbe]) {
        if (probe !== undefined) expect(probe.terminationGracePeriodSeconds).toBe(10);
      }
    }
  }
});

it('every pod that is not a demo server asks for the disk that it needs, and has folders with an end', () => {
  for (const { name, component, spec } of CI_SETS.flatMap((set) => podsOf(of(set)))) {
    if (['postgres', 'redis', 's3', 'bucket', 'test'].includes(component)) continue;
    const folders = (spec.volumes ?? []).filter(({ emptyDir }) => emptyDir !== undefined);
    expect([name, folders.filter(({ emptyDir }) => emptyDir?.sizeLimit === undefined)]).toEqual([name, []]);
    for (const { resources } of spec.containers) expect(resources?.requests).toHaveProperty('ephemeral-storage');
  }
});

it('all processes and migrations trust an authority of the operator, and get what else is given', async () => {
  const over = {
    tls: { caConfigMap: 'authority' },
    extra: {
      env: [{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }],
      volumes: [{ name: 'keys', secret: { secretName: 'keys' } }],
      volumeMounts: [{ name: 'keys', mountPath: '/keys', readOnly: true }],
    },
  };
  const pods = podsOf(await render('ha', over)).filter(({ component }) => component !== 'test');
  expect(pods.map(({ component }) => component).sort()).toEqual(
    ['api', 'fleet', 'maintenance', 'migrate', 'worker', 'worker', 'worker'].sort(),
  );
  for (const { spec } of pods) {
    const [process] = spec.containers;
    expect(envOf(process ?? fail())).toMatchObject({
      NODE_EXTRA_CA_CERTS: '/etc/millrace/ca/ca.crt',
      HTTPS_PROXY: 'http://proxy:3128',
    });
    expect(process?.volumeMounts).toContainEqual({ name: 'ca', mountPath: '/etc/millrace/ca', readOnly: true });
    expect(process?.volumeMounts).toContainEqual(over.extra.volumeMounts[0]);
    expect(spec.volumes).toContainEqual({ name: 'ca', configMap: { name: 'authority' } });
    expect(spec.volumes).toContainEqual(over.extra.volumes[0]);
  }
});

it('the pods of tests stay until the next run, for their logs, and have resources', () => {
  const tests = kind('ha', 'Pod');
  expect(tests).toHaveLength(2);
  for (const { metadata, spec } of tests) {
    expect(metadata.annotations?.['helm.sh/hook-delete-policy']).toBe('before-hook-creation');
    for (const { resources } of (spec as PodOf['spec']).containers) expect(resources?.limits).toHaveProperty('memory');
  }
});

describe('secrets', () => {
  it('are made only where none is named, and kept', () => {
    expect(kind('external', 'Secret')).toEqual([]);
    const made = kind('minimal', 'Secret');
    expect(made.map(({ metadata }) => metadata.name).sort()).toEqual([
      'rel-millrace',
      'rel-millrace-postgres',
      'rel-millrace-redis',
      'rel-millrace-s3',
    ]);
    for (const { metadata } of made) expect(metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
    const [own] = made.filter(({ metadata }) => metadata.name === 'rel-millrace');
    const data = own?.data as Record<string, string>;
    const secretKey = Buffer.from(data['secret-key'] ?? '', 'base64').toString();
    expect(Buffer.from(secretKey, 'base64')).toHaveLength(32);
  });

  it('stand nowhere but in Secrets', async () => {
    const manifests = await render('minimal');
    const values = manifests
      .filter((manifest) => manifest.kind === 'Secret')
      .flatMap(({ data }) => Object.values(data as Record<string, string>))
      .flatMap((value) => [value, Buffer.from(value, 'base64').toString()]);
    const rest = JSON.stringify(manifests.filter((manifest) => manifest.kind !== 'Secret'));
    expect(values.length).toBeGreaterThan(10);
    expect(values.filter((value) => rest.includes(value))).toEqual([]);
  });

  it('cannot be given as plain values', async () => {
    const { code, stderr } = await template('minimal', { settings: { MILLRACE_ADMIN_TOKEN: 'x'.repeat(20) } });
    expect(code).not.toBe(0);
    expect(stderr).toContain('MILLRACE_ADMIN_TOKEN');
  });
});

describe('alerts and dashboards', () => {
  const files = ['availability', 'burn-rates', 'jobs', 'objectives', 'service']
    .map((name) => `rules/${name}.yaml`)
    .concat('dashboards/millrace.json');
  it.each(files)('ask in %s for metrics that the processes export', (file) => {
    const text = readFileSync(join(ROOT, 'helm', 'millrace', file), 'utf8');
    const names = [...new Set([...text.matchAll(/\b(millrace|nodejs|process)_[a-z0-9_]+/g)].map(([name]) => name))];
    const declared = exportedNames();
    expect(names.length).toBeGreaterThan(1);
    expect(names.filter((name) => !declared.includes(name))).toEqual([]);
  });

  it('link to a page that the operator serves, and name the targets of this release', async () => {
    const rules = JSON.stringify(kind('ha', 'PrometheusRule').map(({ spec }) => spec));
    expect(rules).toContain('"runbook_url":"https://docs.example.com/alerts#millracepostgresaway"');
    expect(rules).not.toContain('"runbook"');
    const named = await render('ha', { nameOverride: 'mill' });
    expect(JSON.stringify(named.filter((manifest) => manifest.kind === 'PrometheusRule'))).toContain(
      'up{job=\\"mill\\"}',
    );
  });

  it('go by the objectives of the values, in the records and in the alerts, each by its own', async () => {
    const asked = { availability: 0.99, start: 0.951, startSeconds: 60, success: 0.95 };
    const own = await render('ha', { metrics: { rules: { objectives: asked } } });
    const rules = JSON.stringify(own.filter((manifest) => manifest.kind === 'PrometheusRule'));
    expect(rules).toContain('millrace:http_errors:ratio_rate1h > 14.4 * (1.0 - 0.99)');
    expect(rules).toContain('millrace:jobs_started_late:ratio_rate30d / (1.0 - 0.951)');
    expect(rules).toContain('millrace:jobs_failed_by_service:ratio_rate6h > 6 * (1.0 - 0.95)');
    expect(rules).toContain('le=~\\"60([.]0)?\\"');
    expect(rules).not.toMatch(/\(1 - 0\.\d|le=~\\"300/);
  });

  it('have a section in docs/alerts.md that says what to do', () => {
    const page = readFileSync(join(ROOT, 'docs', 'alerts.md'), 'utf8');
    const folder = join(ROOT, 'helm', 'millrace', 'rules');
    const rules = readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('\n');
    const alerts = [...rules.matchAll(/alert: (\w+)/g)].map(([, name = '']) => name);
    expect(alerts.length).toBeGreaterThan(8);
    // A section of an alert that is no more would send its reader looking for nothing.
    const sections = [...page.matchAll(/^## (Millrace[A-Z]\w+)$/gm)].map(([, name = '']) => name);
    expect(sections.sort()).toEqual([...alerts].sort());
    expect(alerts.filter((name) => !page.includes(`## ${name}\n`))).toEqual([]);
    expect(alerts.filter((name) => !rules.includes(`runbook: docs/alerts.md#${name.toLowerCase()}`))).toEqual([]);
  });
});

/** Every series of every metric that a process exports. */
function exportedNames(): string[] {
  return new Metrics('a test').registry.getMetricsAsArray().flatMap(({ name, type }) => {
    const isHistogram = String(type) === 'histogram';
    return isHistogram ? [name, `${name}_bucket`, `${name}_count`, `${name}_sum`] : [name];
  });
}
