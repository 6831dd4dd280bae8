import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { CI_SETS, render, type Manifest } from './support/helm';
import { containerOf, envOf, podOf, podsOf, policiesOf } from './support/parts';

const rendered = new Map<string, Manifest[]>();
const of = (set: string): Manifest[] => rendered.get(set) ?? [];

beforeAll(async () => {
  for (const set of CI_SETS) rendered.set(set, await render(set, { stopped: true }));
});

const RESTORE = 'rel-millrace-restore';
/** Servers in the release, which a restore fills. */
const SERVERS = ['postgres', 'redis', 's3'];
const replicasOf = (manifests: Manifest[]): Record<string, number | undefined> =>
  Object.fromEntries(
    manifests.flatMap((manifest) =>
      Deployment.is(manifest) ? [[manifest.metadata?.name ?? '', manifest.spec?.replicas]] : [],
    ),
  );

describe('a stopped release', () => {
  it.each(CI_SETS)('runs no process of %s, and nothing that starts one or migrates', (set) => {
    const { [RESTORE]: restore, ...others } = replicasOf(of(set));
    expect(restore).toBe(1);
    const running = Object.entries(others).filter(([, replicas]) => replicas !== 0);
    expect(running.filter(([name]) => !SERVERS.some((server) => name.endsWith(`-${server}`)))).toEqual([]);
    const kinds = of(set).map(({ kind }) => kind);
    expect(kinds).not.toContain('HorizontalPodAutoscaler');
    expect(kinds).not.toContain('ScaledObject');
    expect(podsOf(of(set)).map(({ component }) => component)).not.toContain('migrate');
  });

  it('has no fleet process, with which Kubernetes removes the workers that it made', async () => {
    expect(Object.keys(replicasOf(await render('ha')))).toContain('rel-millrace-fleet');
    expect(Object.keys(replicasOf(of('ha')))).not.toContain('rel-millrace-fleet');
  });

  it('keeps what the fleet process makes workers of, so that they are no others afterwards', async () => {
    const config = (manifests: Manifest[]): unknown =>
      manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'rel-millrace-fleet')?.data;
    expect(config(of('ha'))).toEqual(config(await render('ha')));
  });

  it('has one pod for the commands of a restore, as the owner of the tables, with the settings of maintenance', () => {
    const pod = podOf(of('ha'), RESTORE);
    expect(pod.spec.containers.map(({ name, image }) => [name, image])).toEqual([
      ['maintenance', 'registry.example.com/millrace-maintenance:0.1.0'],
      ['setup', 'registry.example.com/millrace-setup:0.1.0'],
    ]);
    expect(envOf(containerOf(pod, 'maintenance'))).toMatchObject({
      DATABASE_URL: 'millrace-postgres/url',
      S3_BUCKET: 'millrace',
      S3_ENDPOINT: 'https://s3.internal.example.com:9000',
      S3_ACCESS_KEY_ID: 'millrace-s3/access-key-id',
      MILLRACE_SECRET_KEY: 'rel-millrace/secret-key',
    });
    expect(envOf(containerOf(pod, 'setup'))).toMatchObject({ DATABASE_URL: 'millrace-postgres/url' });
    expect(podsOf(of('external')).find(({ name }) => name === RESTORE)?.spec.serviceAccountName).toBe('rel-millrace');
  });

  it('lets that pod reach the database, the bucket and the source of its credentials', async () => {
    const policiesFor = (manifests: Manifest[]): string[] =>
      policiesOf(manifests)
        .filter(({ spec }) => JSON.stringify(spec?.podSelector?.matchExpressions ?? []).includes('"restore"'))
        .map(({ metadata }) => (metadata?.name ?? '').replace('rel-millrace-', ''))
        .sort();
    expect(policiesFor(of('external'))).toEqual(['to-postgres', 'to-s3', 'to-s3-role']);
    expect(policiesFor(of('ha'))).toEqual(['extra', 'to-postgres', 'to-s3']);
    expect(policiesFor(await render('ha'))).toEqual([]);
  });

  it('is there no longer when it is started again', async () => {
    expect(podsOf(await render('ha')).map(({ name }) => name)).not.toContain(RESTORE);
  });
});
