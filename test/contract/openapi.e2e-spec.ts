import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiClient, TestStack } from '@millrace/testing';

let stack: TestStack;
let surfaces: Record<'cloud' | 'self-hosted' | 'deployment', string>;
beforeAll(async () => {
  stack = await TestStack.start({ workers: 0 });
  const selfHosted = await stack.spawn('api', { MILLRACE_SURFACE: 'self_hosted', MILLRACE_TOKEN: 'a-static-token' });
  surfaces = {
    cloud: stack.publicUrl,
    'self-hosted': selfHosted.publicUrl,
    deployment: `${stack.publicUrl}${PREFIX}`,
  };
});
afterAll(() => stack.stop());

const PREFIX = '/deployment/3f2b8c1e-5d6a-4b7c-8e9f-0a1b2c3d4e5f';
const committed = (): Record<string, unknown> =>
  JSON.parse(readFileSync(join(__dirname, '../../docs/openapi.json'), 'utf8')) as Record<string, unknown>;

describe.each(['cloud', 'self-hosted', 'deployment'] as const)('on the %s surface', (name) => {
  const ask = (path: string): ReturnType<ApiClient['call']> => new ApiClient(surfaces[name], null).call('GET', path);

  it('GET /openapi.json is the committed document for everybody, and names this surface as its server', async () => {
    const { status, headers, text } = await ask('/api/v2/openapi.json');
    expect(status).toBe(200);
    expect(headers['content-type']).toMatch(/^application\/json/);
    const { servers, ...rest } = JSON.parse(text) as { servers: { url: string }[] };
    const { servers: _servers, ...expected } = committed();
    expect(rest).toEqual(expected);
    expect(servers.map(({ url }) => url)).toEqual([name === 'deployment' ? PREFIX : '/']);
  });

  it('GET /reference is a page that a browser shows without fetching or running anything', async () => {
    const { status, headers, text } = await ask('/api/v2/reference');
    expect(status).toBe(200);
    expect(headers['content-type']).toMatch(/^text\/html; charset=utf-8/);
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-[^']+';/);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(text).not.toMatch(/<script|<link|<img|<iframe|@import|\son\w+=|\sstyle=|url\(/i);
    expect(text).toContain('Submit a workflow');
  });
});

describe('the reference page', () => {
  it('has a place for every link within it', async () => {
    const { text } = await new ApiClient(surfaces.cloud, null).call('GET', '/api/v2/reference');
    const places = [...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    expect(places).toEqual([...new Set(places)]);
    for (const [, target] of text.matchAll(/href="#([^"]+)"/g)) expect(places).toContain(target);
  });
});
