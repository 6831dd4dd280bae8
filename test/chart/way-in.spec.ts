import { END } from '../../apps/gateway/src/http/json-body';
import { CI_SETS, render, type Manifest } from './support/helm';
import { podsOf } from './support/parts';

const rendered = new Map<string, Manifest[]>();
const of = (set: string): Manifest[] => rendered.get(set) ?? [];
const kind = (set: string, wanted: string): Manifest[] => of(set).filter((manifest) => manifest.kind === wanted);

beforeAll(async () => {
  for (const set of CI_SETS) rendered.set(set, await render(set));
});

describe('the way in', () => {
  it('lets event streams live and uploads through, by Ingress', () => {
    const [ingress] = kind('external', 'Ingress');
    expect(ingress?.metadata.annotations).toMatchObject({
      'nginx.ingress.kubernetes.io/proxy-buffering': 'off',
      'nginx.ingress.kubernetes.io/proxy-request-buffering': 'off',
      'nginx.ingress.kubernetes.io/proxy-read-timeout': '3600',
      'nginx.ingress.kubernetes.io/proxy-body-size': String(1_073_741_824 + 1_048_576),
    });
  });

  it('lets each body through that the api takes, so that the api itself refuses larger ones', async () => {
    const limitOf = async (over: object): Promise<number> => {
      const [ingress] = (await render('ha', over)).filter(({ kind }) => kind === 'Ingress');
      return Number(ingress?.metadata.annotations?.['nginx.ingress.kubernetes.io/proxy-body-size']) - 1_048_576;
    };
    const small = { MILLRACE_MAX_UPLOAD_BYTES: 5_000_000 };
    // Workflows and batches, by default.
    expect(await limitOf({ settings: small })).toBe(10_485_760);
    const api = { settings: { MILLRACE_MAX_BATCH_BYTES: 20_000_000, MILLRACE_MCP_REQUEST_BYTES: '30000000' } };
    expect(await limitOf({ settings: small, api })).toBe(30_000_000);
    // What a worker outside the cluster says of a job that ends.
    expect(await limitOf({ settings: small, remoteWorkers: { enabled: true } })).toBe(END.maxBytes);
  });

  it('routes hosts below a domain that only the api is given', async () => {
    const ingress = { enabled: true, host: 'api.example.com', deploymentHosts: true };
    const api = { settings: { MILLRACE_DEPLOYMENT_DOMAIN: 'run.example.com' } };
    const [made] = (await render('minimal', { ingress, api })).filter(({ kind }) => kind === 'Ingress');
    expect((made?.spec as { rules: { host: string }[] }).rules.map(({ host }) => host)).toEqual([
      'api.example.com',
      '*.run.example.com',
    ]);
  });

  it('lets event streams live, by HTTPRoute', () => {
    const [route] = kind('gateway', 'HTTPRoute');
    const { rules } = route?.spec as { rules: { timeouts: object }[] };
    for (const { timeouts } of rules) expect(timeouts).toEqual({ request: '0s', backendRequest: '0s' });
  });

  it('trusts the one proxy that it makes, and none where it makes none', () => {
    const trusted = (set: string): string | undefined => {
      const api = podsOf(of(set)).find(({ component }) => component === 'api');
      return api?.spec.containers[0]?.env?.find(({ name }) => name === 'MILLRACE_TRUSTED_PROXIES')?.value;
    };
    expect([trusted('gateway'), trusted('external'), trusted('minimal')]).toEqual(['1', '1', undefined]);
  });

  it('never leads to the ops listener', () => {
    for (const set of CI_SETS) {
      for (const manifest of [...kind(set, 'Ingress'), ...kind(set, 'HTTPRoute')]) {
        expect(JSON.stringify(manifest.spec)).not.toMatch(/9090|ops/);
      }
      const [open] = kind(set, 'Service').filter(({ metadata }) => metadata.name === 'rel-millrace-api');
      expect((open?.spec as { ports: { name: string }[] }).ports.map(({ name }) => name)).toEqual(['http']);
    }
  });
});
