import { resolveSurface, strayHost, type RequestTarget, type SurfaceRules } from './surface';

const ID = '0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const OTHER = '0199a1b2-0000-7000-8000-00000000000b';
const rules: SurfaceRules = {
  shared: 'cloud',
  open: false,
  publicUrl: 'https://api.example.com',
  deploymentDomain: 'apps.example.com',
};

const resolve = (target: Partial<RequestTarget>, more: Partial<SurfaceRules> = {}): ReturnType<typeof resolveSurface> =>
  resolveSurface({ ...rules, ...more }, { scheme: 'http', host: 'api.example.com', url: '/api/v2/jobs', ...target });

describe('a request to the service itself', () => {
  it('comes to the shared surface, which has no prefix', () => {
    const { surface, url } = resolve({ url: '/api/v2/jobs?limit=1' });
    expect(surface).toMatchObject({ kind: 'cloud', deploymentId: null, prefix: '', origin: 'https://api.example.com' });
    expect(url).toBe('/api/v2/jobs?limit=1');
  });

  it('has the origin that the client sent when no outer one is set', () => {
    const target = { scheme: 'https', host: 'here:8443' } as const;
    expect(resolve(target, { publicUrl: undefined }).surface.origin).toBe('https://here:8443');
  });
});

describe('a request under a prefix', () => {
  it('comes to the deployment, and its path is what follows the prefix', () => {
    const { surface, url } = resolve({ url: `/deployment/${ID}/api/v2/jobs/1?x=/deployment/${OTHER}/api/` });
    expect(surface).toMatchObject({ kind: 'deployment', deploymentId: ID, prefix: `/deployment/${ID}` });
    expect(surface.origin).toBe('https://api.example.com');
    expect(url).toBe(`/api/v2/jobs/1?x=/deployment/${OTHER}/api/`);
  });

  it.each(['/mcp', '/mcp?x=1', '/platform/v1/estimates', '/platform/v1/jobs/1'])(
    'comes to the deployment at %s, too',
    (url) => {
      const resolved = resolve({ url: `/deployment/${ID}${url}` });
      expect(resolved).toMatchObject({ surface: { kind: 'deployment', deploymentId: ID }, url });
    },
  );

  it.each([
    ['in capitals', ID.toUpperCase()],
    ['percent-encoded', `%30${ID.slice(1)}`],
  ])('may spell the id %s; links have its plain form', (_, spelled) => {
    const { surface } = resolve({ url: `/deployment/${spelled}/api/v2/jobs` });
    expect(surface).toMatchObject({ deploymentId: ID, prefix: `/deployment/${ID}` });
  });

  it.each([
    ['is no id', '/deployment/demo/api/v2/jobs'],
    ['has a malformed escape', `/deployment/%zz${ID.slice(2)}/api/v2/jobs`],
    ['hides a slash', `/deployment/${ID}%2Fapi/v2/jobs`],
    ['is doubled', `/deployment/${ID}/deployment/${OTHER}/api/v2/jobs`],
    ['leads elsewhere', `/deployment/${ID}/platform/v1/account`],
    ['goes on after a whole path', `/deployment/${ID}/mcp/x`],
    ['goes on after a job', `/deployment/${ID}/platform/v1/jobs/1/x`],
    ['stands behind another path', `/api/v2/deployment/${ID}/api/v2/jobs`],
    ['is spelled otherwise', `/Deployment/${ID}/api/v2/jobs`],
  ])('is none when it %s', (_, url) => {
    const resolved = resolve({ url });
    expect(resolved.surface.kind).toBe('cloud');
    expect(resolved.url).toBe(url);
  });
});

describe("a request to a deployment's host", () => {
  it.each([
    `${ID}.apps.example.com`,
    `${ID.toUpperCase()}.Apps.Example.COM`,
    `${ID}.apps.example.com.`,
    `${ID}.apps.example.com:8443`,
  ])('comes to the deployment, without a prefix, at the origin it was sent to: %s', (host) => {
    const { surface, url } = resolve({ host });
    expect(surface).toMatchObject({ kind: 'deployment', deploymentId: ID, prefix: '', origin: `https://${host}` });
    expect(url).toBe('/api/v2/jobs');
  });

  it('finds nothing mounted there, neither another deployment nor itself', () => {
    const host = `${ID}.apps.example.com`;
    for (const id of [OTHER, ID]) {
      const { surface, url } = resolve({ host, url: `/deployment/${id}/api/v2/jobs` });
      expect(surface.deploymentId).toBe(ID);
      expect(url).toBe(`/deployment/${id}/api/v2/jobs`);
    }
  });

  it.each(['apps.example.com', `${ID}.apps.example.com.evil.test`, `${ID}xapps.example.com`, `${ID}.apps.example.org`])(
    'is not one to %s',
    (host) => {
      expect(resolve({ host }).surface.kind).toBe('cloud');
      expect(strayHost(rules, host)).toBeNull();
    },
  );

  it.each([
    `x.${ID}.apps.example.com`,
    'not-an-id.apps.example.com',
    'not-an-id.Apps.Example.com.:8443',
    `${ID.slice(1)}.apps.example.com`,
    '.apps.example.com',
  ])('is nothing at %s, which is below the domain of deployments and none of them', (host) => {
    const refusal = strayHost(rules, host);
    expect(refusal).toMatchObject({ code: 'not_found', status: 404 });
    expect(refusal?.message).toContain('<id>.apps.example.com');
    expect(refusal?.message).toContain('https://api.example.com');
  });

  it('may be below the same domain as the service itself', () => {
    const host = 'api.apps.example.com';
    expect(strayHost({ ...rules, publicUrl: `https://${host}:8443` }, host)).toBeNull();
    expect(strayHost({ ...rules, publicUrl: undefined }, host)?.message).not.toContain('https://');
  });

  it('is none without a domain for deployments', () => {
    const { surface } = resolve({ host: `${ID}.apps.example.com` }, { deploymentDomain: undefined });
    expect(surface.kind).toBe('cloud');
    expect(strayHost({ ...rules, deploymentDomain: undefined }, 'x.apps.example.com')).toBeNull();
  });
});
