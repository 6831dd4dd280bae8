import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEngineClasses } from '@millrace/deployments';
import { KUBERNETES_RIGHTS, readTemplates } from '@millrace/fleet';
import { CI_SETS, render, type Manifest } from './support/helm';
import { containerOf, envOf, podsOf } from './support/parts';

const rendered = new Map<string, Manifest[]>();
const named = (kind: string, name = 'rel-millrace-fleet'): Manifest => {
  const found = (rendered.get('ha') ?? []).find((one) => one.kind === kind && one.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
};
const files = (): Record<string, string> => (named('ConfigMap') as unknown as { data: Record<string, string> }).data;

beforeAll(async () => {
  for (const set of CI_SETS) rendered.set(set, await render(set));
});

describe('the fleet of the chart', () => {
  it('is refused where it would find no API server, and where a class has no ComfyUI', async () => {
    const classes = [{ name: 'gpu', engine: 'comfyui' }];
    const fleet = { apiServer: { peers: [] }, engineClasses: classes, worker: { comfyui: { image: '' } } };
    const refusal = await render('ha', { fleet }).catch((error: unknown) => String(error));
    expect(refusal).toContain('fleet.apiServer.peers is empty');
    expect(refusal).toContain('the class gpu has no image');
  });

  it('may do in its namespace what its process calls, and nothing else', () => {
    const { rules } = named('Role') as unknown as {
      rules: { apiGroups: string[]; resources: string[]; verbs: string[] }[];
    };
    const allowed = KUBERNETES_RIGHTS.map(({ apiGroup, resource, verbs }) => {
      return { apiGroups: [apiGroup], resources: [resource], verbs: [...verbs] };
    });
    expect(rules).toEqual(allowed);
    const kinds = [...rendered.values()].flat().map(({ kind }) => kind);
    expect(kinds.filter((kind) => /^ClusterRole/.test(kind))).toEqual([]);
  });

  it('reads engine classes that it accepts', () => {
    const classes = readEngineClasses(files()['engine-classes.json'] ?? '');
    expect(classes.map(({ name }) => name)).toEqual(['cpu', 'l40s', 'h200']);
  });

  it('makes workers of templates that are those of pools, without a pool', () => {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-templates-'));
    for (const [name, text] of Object.entries(files())) writeFileSync(join(folder, name), text);
    const { cpu, comfyui } = readTemplates(folder);
    rmSync(folder, { recursive: true });
    for (const [engine, { deployment }] of Object.entries({ cpu, comfyui })) {
      const { metadata, spec } = deployment.spec.template;
      expect([engine, metadata?.labels]).toEqual([
        engine,
        expect.objectContaining({ 'app.kubernetes.io/component': 'worker', 'app.kubernetes.io/instance': 'rel' }),
      ]);
      expect(metadata?.labels).not.toHaveProperty('millrace/pool');
      expect(spec).toMatchObject({ automountServiceAccountToken: false, terminationGracePeriodSeconds: 1845 });
      expect(spec.containers[0]?.env?.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['DATABASE_URL', 'REDIS_URL', 'MILLRACE_SECRET_KEY', 'MILLRACE_DRAIN_SECONDS']),
      );
    }
    expect(comfyui.deployment.spec.template.spec.initContainers?.map(({ name }) => name)).toContain('comfyui');
    expect(comfyui.deployment.spec.template.spec).toMatchObject({ runtimeClassName: 'nvidia' });
    expect(cpu.deployment.spec.template.spec).not.toHaveProperty('runtimeClassName');
  });

  it('knows the database, and neither queue nor store nor secret key', () => {
    const pod = podsOf(rendered.get('ha') ?? []).find(({ component }) => component === 'fleet');
    if (pod === undefined) throw new Error('there is no fleet');
    const names = Object.keys(envOf(containerOf(pod, 'fleet')));
    expect(names).toContain('DATABASE_URL');
    expect(names.filter((name) => /^(REDIS|S3_|MILLRACE_SECRET)/.test(name))).toEqual([]);
  });

  it('and the gateway: with a user of its own, or as a worker', async () => {
    const keysOf = (manifests: Manifest[]): unknown[] => {
      const pod = podsOf(manifests).find(({ component }) => component === 'gateway');
      if (pod === undefined) throw new Error('there is no gateway');
      const env = containerOf(pod, 'gateway').env ?? [];
      return env.flatMap(({ name, valueFrom }) =>
        /^(DATABASE_URL|MILLRACE_DATABASE_DIRECT_URL)$/.test(name) ? [valueFrom?.secretKeyRef?.key] : [],
      );
    };
    const external = { directKey: 'direct', processKeys: { worker: 'w' }, processDirectKeys: { worker: 'w-direct' } };
    expect(keysOf(await render('gateway', { postgres: { external } }))).toEqual(['w', 'w-direct']);
    const own = { processKeys: { gateway: 'g' }, processDirectKeys: { gateway: 'g-direct' } };
    expect(keysOf(await render('gateway', { postgres: { external: { ...external, ...own } } }))).toEqual([
      'g',
      'g-direct',
    ]);
  });
});
