import { reuseKeyOf, type ReusePlace } from './reuse-key';

const PLACE: ReusePlace = {
  scope: { accountId: 'a', surface: 'deployment', deploymentId: 'd', labels: null },
  poolId: 'p',
  catalogueDigest: 'c',
};
const FILE = { hash: 'blake3:1', contentType: 'image/png', filePath: 'a/b.png' };
const hex = (place: Partial<ReusePlace>, digest = 'g', files = [FILE]): string =>
  reuseKeyOf({ ...PLACE, ...place }, digest, files).toString('hex');

describe('the key of a submission', () => {
  it.each<[string, string]>([
    ['of another account', hex({ scope: { ...PLACE.scope, accountId: 'b' } })],
    ['of a sub-key', hex({ scope: { ...PLACE.scope, labels: { user: 'ada' } } })],
    ['of another surface', hex({ scope: { ...PLACE.scope, surface: 'cloud' } })],
    ['of another deployment', hex({ scope: { ...PLACE.scope, deploymentId: 'e' } })],
    ['of another pool', hex({ poolId: 'q' })],
    ['of another catalogue', hex({ catalogueDigest: 'k' })],
    ['of another graph', hex({}, 'h')],
    ['of another file', hex({}, 'g', [{ ...FILE, hash: 'blake3:2' }])],
    ['of a file with another content type', hex({}, 'g', [{ ...FILE, contentType: 'image/webp' }])],
    ['of a file with another extension', hex({}, 'g', [{ ...FILE, filePath: 'a/b.jpg' }])],
    ['with one file more', hex({}, 'g', [FILE, FILE])],
  ])('is another one %s', (_, key) => {
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(key).not.toBe(hex({}));
  });

  it('does not depend on the name of a file', () => {
    expect(hex({}, 'g', [{ ...FILE, filePath: 'c.PNG' }])).toBe(hex({}));
  });
});
