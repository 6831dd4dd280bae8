import type { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { CI_SETS, render, type Manifest } from './support/helm';
import { podsOf, policiesOf, type PodOf } from './support/parts';

const rendered = new Map<string, Manifest[]>();
const of = (set: string): Manifest[] => rendered.get(set) ?? [];

beforeAll(async () => {
  for (const set of CI_SETS) rendered.set(set, await render(set));
});

type Selector = { matchLabels?: Record<string, string>; matchExpressions?: { key: string; values?: string[] }[] };

/** Whether a selector of the chart (labels, and `In` lists) picks a pod. */
function picks(selector: Selector | undefined, { labels }: PodOf): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, values = [] }) => values.includes(labels[key] ?? ''))
  );
}

type Direction = 'ingress' | 'egress';

/** What the policies open for a pod: `<peer>:<port>` each, the peer a component of the release, or what stands outside. */
function flows(manifests: Manifest[], pod: PodOf, direction: Direction): string[] {
  const chosen = policiesOf(manifests).filter(({ spec }) => picks(spec?.podSelector, pod));
  const found = chosen.flatMap((policy) =>
    rulesOf(policy, direction).flatMap(({ peers, ports }) => {
      const names = peers === undefined ? ['everywhere'] : peers.flatMap((peer) => peersOf(manifests, peer));
      return names.flatMap((name) => ports.map((port) => `${name}:${port}`));
    }),
  );
  return [...new Set(found)].sort();
}

type Peer = { podSelector?: Selector; namespaceSelector?: object; ipBlock?: { cidr: string } };

function rulesOf({ spec }: NetworkPolicy, direction: Direction): { peers?: Peer[]; ports: string[] }[] {
  const rules =
    direction === 'ingress'
      ? (spec?.ingress ?? []).map(({ from, ports }) => ({ peers: from, ports }))
      : (spec?.egress ?? []).map(({ to, ports }) => ({ peers: to, ports }));
  return rules.map(({ peers, ports }) => ({ peers, ports: (ports ?? []).map(portText) }));
}

const portText = ({ port, endPort }: { port?: number | string; endPort?: number }): string =>
  endPort === undefined ? String(port) : `${port}-${endPort}`;

function peersOf(manifests: Manifest[], { ipBlock, namespaceSelector, podSelector }: Peer): string[] {
  if (ipBlock !== undefined) return [ipBlock.cidr];
  if (namespaceSelector !== undefined)
    return [`outside ${JSON.stringify(Object.values((namespaceSelector as Selector).matchLabels ?? {}))}`];
  const inside = podsOf(manifests).filter((pod) => picks(podSelector, pod));
  return inside.length === 0 ? [`outside ${JSON.stringify(podSelector)}`] : inside.map(({ component }) => component);
}

function podOf(set: string, component: string): PodOf {
  const found = podsOf(of(set)).find((pod) => pod.component === component);
  if (found === undefined) throw new Error(`there is no ${component}`);
  return found;
}

const GPU_POOL = '3f0c9b52-6f0e-4d0c-8a0e-5d8f3b1c7e21';
const DNS = ['outside ["kube-system"]:53'];

describe('the network policy', () => {
  it.each(CI_SETS)('denies every pod of %s all that is not opened for it', (set) => {
    const [deny] = policiesOf(of(set)).filter(({ metadata }) => metadata?.name === 'rel-millrace-default-deny');
    expect(deny?.spec?.policyTypes).toEqual(['Ingress', 'Egress']);
    expect([deny?.spec?.ingress, deny?.spec?.egress]).toEqual([undefined, undefined]);
    expect(podsOf(of(set)).filter((pod) => !picks(deny?.spec?.podSelector, pod))).toEqual([]);
  });

  it('opens exactly these flows inside a release with its own servers', () => {
    const servers = ['postgres:5432', 'redis:6379', 's3:9000'];
    const out = (component: string): string[] => flows(of('minimal'), podOf('minimal', component), 'egress');
    const into = (component: string): string[] => flows(of('minimal'), podOf('minimal', component), 'ingress');
    for (const component of ['api', 'worker']) expect(out(component)).toEqual([...DNS, ...servers]);
    // Customers' webhooks are where they name them: HTTPS, and the ports from 1024.
    const receivers = ['0.0.0.0/0:1024-65535', '0.0.0.0/0:443', '::/0:1024-65535', '::/0:443'];
    expect(out('maintenance')).toEqual([...receivers, ...DNS, ...servers]);
    expect(out('migrate')).toEqual([...DNS, 'postgres:5432']);
    expect(out('bucket')).toEqual([...DNS, 's3:9000']);
    expect(out('test')).toEqual(['api:8080', 'api:9090', ...DNS]);
    for (const component of ['postgres', 'redis', 's3']) expect(out(component)).toEqual(DNS);
    expect(into('api')).toEqual(['everywhere:8080', 'test:9090']);
    expect(into('worker')).toEqual(['test:9090']);
    expect(into('maintenance')).toEqual(['test:9090']);
    expect(into('postgres')).toEqual(['api:5432', 'maintenance:5432', 'migrate:5432', 'worker:5432']);
    expect(into('redis')).toEqual(['api:6379', 'maintenance:6379', 'worker:6379']);
    expect(into('s3')).toEqual(['everywhere:9000']);
    expect(into('migrate')).toEqual([]);
  });

  it('opens exactly these flows to servers outside, and to those who may come in', () => {
    const outside = ['10.1.0.0/24:5432', '10.1.1.0/24:6380', '10.1.2.0/24:9000'];
    const collector = 'outside ["monitoring"]:4318';
    const [images, video] = [GPU_POOL, '8a4d17e6-2b93-4c55-9d3f-0e6b7c2a9f14'].map((pool) =>
      podsOf(of('ha')).find(({ labels }) => labels['millrace/pool'] === pool),
    );
    if (images === undefined || video === undefined) throw new Error('a pool is missing');
    expect(flows(of('ha'), images, 'egress')).toEqual([...outside, ...DNS, collector].sort());
    expect(flows(of('ha'), video, 'egress')).toEqual(
      [...outside, '0.0.0.0/0:80', '0.0.0.0/0:443', '::/0:80', '::/0:443', ...DNS, collector].sort(),
    );
    // Credits are sold there, so the API reaches Stripe.
    expect(flows(of('ha'), podOf('ha', 'api'), 'egress')).toEqual(
      [...outside, '0.0.0.0/0:443', '::/0:443', ...DNS, collector].sort(),
    );
    expect(flows(of('ha'), podOf('ha', 'migrate'), 'egress')).toEqual(['10.1.0.0/24:5432', ...DNS].sort());
    expect(flows(of('ha'), podOf('ha', 'api'), 'ingress')).toEqual(
      ['outside ["ingress-nginx"]:8080', 'outside ["monitoring"]:9090', 'test:8080', 'test:9090'].sort(),
    );
  });

  it.each([
    [6432, 5432, ['10.1.0.0/24:5432', '10.1.0.0/24:6432']],
    [6432, 0, ['10.1.0.0/24:6432']],
    [5432, 5432, ['10.1.0.0/24:5432']],
  ])(
    'opens a pooler on port %i, and PostgreSQL itself on directPort %i, to all that connect',
    async (port, directPort, open) => {
      const manifests = await render('ha', { postgres: { external: { port, directPort } } });
      const connecting = podsOf(manifests).filter(({ component }) => component !== 'test');
      expect(connecting.map(({ component }) => component)).toEqual(expect.arrayContaining(['migrate', 'fleet']));
      for (const pod of connecting) {
        const ways = flows(manifests, pod, 'egress').filter((way) => way.startsWith('10.1.0.0/24:'));
        expect([pod.component, ways]).toEqual([pod.component, open]);
      }
    },
  );

  it('opens the internet to workers that the fleet makes of a class with `reach`, to no others of it', () => {
    const manifests = of('ha');
    const template = podsOf(manifests).find(({ labels }) => labels['millrace/pool'] === GPU_POOL);
    if (template === undefined) throw new Error('a pool is missing');
    const labels = { ...template.labels, 'millrace/pool': 'a-deployment' };
    const ways = (more: object): string[] =>
      flows(manifests, { ...template, labels: { ...labels, ...more } }, 'egress').filter((way) => /^(0|::)/.test(way));
    expect(ways({})).toEqual([]);
    expect(ways({ 'millrace/internet': 'allowed' })).toEqual(['0.0.0.0/0:443', '0.0.0.0/0:80', '::/0:443', '::/0:80']);
  });

  it.each([
    ['machine', ['169.254.169.254/32:80', 'fd00:ec2::254/128:80']],
    ['podIdentity', ['169.254.170.23/32:80', 'fd00:ec2::23/128:80']],
    ['webIdentity', ['10.1.2.0/24:443']],
    ['other', []],
  ])(
    'opens the source of the credentials of a bucket, %s, to those that use it, and to no others',
    async (roleFrom, open) => {
      const external = { port: 9000, peers: [{ ipBlock: { cidr: '10.1.2.0/24' } }] };
      const manifests = await render('ha', {
        s3: { external: { ...external, existingSecret: '', roleFrom } },
        remoteWorkers: { enabled: true },
      });
      for (const pod of podsOf(manifests)) {
        const uses = ['api', 'maintenance', 'worker', 'gateway'].includes(pod.component);
        const ways = flows(manifests, pod, 'egress').filter((way) => /^(169|fd00|10\.1\.2\.0.*:443$)/.test(way));
        expect([pod.component, ways]).toEqual([pod.component, uses ? open : []]);
      }
    },
  );

  it('opens the way to a mail server for maintenance, and to Prometheus for the API', () => {
    const out = (component: string): string[] => flows(of('gateway'), podOf('gateway', component), 'egress');
    expect(out('maintenance')).toEqual(expect.arrayContaining(['0.0.0.0/0:587', '::/0:587']));
    expect(out('api')).toContain('outside ["monitoring"]:9090');
    expect(out('worker')).not.toContain('outside ["monitoring"]:9090');
    expect(out('api')).not.toContain('0.0.0.0/0:587');
  });

  it.each([
    ['http://prometheus.monitoring:9090', 0, 9090],
    ['http://prometheus.monitoring/a', 0, 80],
    ['https://prometheus.monitoring', 0, 443],
    // A policy sees the port of the pods, which a Service may have translated.
    ['http://prometheus.monitoring', 9090, 9090],
  ])('opens the way to the Prometheus at %s, whose pods have the port %i', async (prometheusUrl, port, open) => {
    const manifests = await render('gateway', { metrics: { status: { prometheusUrl, port } } });
    const api = podsOf(manifests).find(({ component }) => component === 'api');
    if (api === undefined) throw new Error('there is no api');
    const ways = flows(manifests, api, 'egress').filter((flow) => flow.startsWith('outside ["monitoring"]'));
    expect(ways).toEqual([`outside ["monitoring"]:${open}`]);
  });

  it('opens what extraEgress names, a trace collector for one, to every process', async () => {
    const manifests = await render('ha', { remoteWorkers: { enabled: true } });
    for (const component of ['api', 'maintenance', 'worker', 'fleet', 'gateway']) {
      const pod = podsOf(manifests).find((each) => each.component === component);
      expect([component, pod && flows(manifests, pod, 'egress')]).toEqual([
        component,
        expect.arrayContaining(['outside ["monitoring"]:4318']),
      ]);
    }
  });

  it('opens the way to a ComfyUI outside for its pool', () => {
    expect(flows(of('gateway'), podOf('gateway', 'worker'), 'egress')).toContain('10.2.0.5/32:8188');
    expect(flows(of('gateway'), podOf('gateway', 'api'), 'egress')).not.toContain('10.2.0.5/32:8188');
  });
});
