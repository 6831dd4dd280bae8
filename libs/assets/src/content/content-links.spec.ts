import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { KeyRing } from '@millrace/platform';
import { ContentLinks, type LinkBase } from './content-links';

const asset = { id: '0199aaaa-0000-7000-8000-000000000001', accountId: '0199aaaa-0000-7000-8000-000000000002' };
const cloud: LinkBase = { kind: 'cloud', origin: 'https://api.example.com', prefix: '' };
const secret = randomBytes(32).toString('base64');
const ringOf = (...keys: string[]): KeyRing => KeyRing.parse(keys.join(',')) as KeyRing;
const links = new ContentLinks(ringOf(secret), 900);
const forbidden = expect.objectContaining({ code: 'forbidden' }) as Error;

function follow(url: string, by = links, method = 'GET'): string {
  const { pathname, searchParams } = new URL(url);
  return by.verify(method, pathname, searchParams).accountId;
}

describe('a link to content', () => {
  it('works for a while without a credential, for GET and for HEAD, and names the account', () => {
    const before = Date.now();
    const { url, expiresAt } = links.toContent(cloud, asset);
    expect(url.startsWith(`https://api.example.com/content/${asset.id}?`)).toBe(true);
    expect(expiresAt.getTime() - before).toBeGreaterThanOrEqual(900_000);
    expect(expiresAt.getTime() - before).toBeLessThan(905_000);
    expect(follow(url)).toBe(asset.accountId);
    expect(follow(url, links, 'HEAD')).toBe(asset.accountId);
  });

  it('is the same route on a deployment, however it is mounted', () => {
    const mounted: LinkBase = { kind: 'deployment', origin: 'https://api.example.com', prefix: '/deployment/1' };
    expect(follow(links.toContent(mounted, asset).url)).toBe(asset.accountId);
  });

  it('is the plain operation on the self-hosted surface', () => {
    const { url } = links.toContent({ kind: 'self_hosted', origin: 'http://127.0.0.1:8188', prefix: '' }, asset);
    expect(url).toBe(`http://127.0.0.1:8188/api/v2/assets/${asset.id}/content`);
  });

  it('of one generation works for three quarters of its lifetime when the next begins', () => {
    const quarterMs = 225_000;
    const now = jest.spyOn(Date, 'now');
    try {
      for (const [at, generation] of [
        [7 * quarterMs, 7],
        [8 * quarterMs - 1, 7],
        [8 * quarterMs, 8],
      ] as const) {
        now.mockReturnValue(at);
        expect(links.generation()).toBe(generation);
        expect(links.toContent(cloud, asset).expiresAt.getTime()).toBeGreaterThanOrEqual((generation + 4) * quarterMs);
      }
    } finally {
      now.mockRestore();
    }
  });

  it('is refused once it has expired', () => {
    const now = jest.spyOn(Date, 'now');
    try {
      const { url, expiresAt } = links.toContent(cloud, asset);
      now.mockReturnValue(expiresAt.getTime() - 1);
      expect(follow(url)).toBe(asset.accountId);
      now.mockReturnValue(expiresAt.getTime());
      expect(() => follow(url)).toThrow(forbidden);
    } finally {
      now.mockRestore();
    }
  });

  it('is refused for a method that does more than read', () => {
    const { url } = links.toContent(cloud, asset);
    for (const method of ['DELETE', 'POST', 'PUT', 'get']) {
      expect(() => follow(url, links, method)).toThrow(forbidden);
    }
  });

  it('is refused with any of its characters changed', () => {
    const { url } = links.toContent(cloud, asset);
    const start = url.indexOf('/content/');
    fc.assert(
      fc.property(fc.integer({ min: start, max: url.length - 2 }), fc.constantFrom(...'09afAZ-_'), (at, character) => {
        fc.pre(url[at] !== character);
        const altered = url.slice(0, at) + character + url.slice(at + 1);
        expect(() => follow(altered)).toThrow(forbidden);
      }),
    );
    expect(() => links.verify('GET', '/', new URLSearchParams())).toThrow('This service did not make the link');
  });

  it('still works when a new key is added, and not when its own is removed', () => {
    const { url } = links.toContent(cloud, asset);
    const next = randomBytes(32).toString('base64');
    expect(follow(url, new ContentLinks(ringOf(next, secret), 900))).toBe(asset.accountId);
    expect(() => follow(url, new ContentLinks(ringOf(next), 900))).toThrow('This service did not make the link');
  });
});
