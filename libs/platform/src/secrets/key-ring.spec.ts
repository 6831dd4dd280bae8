import { createCipheriv, randomBytes } from 'node:crypto';
import { KEY_USES, KeyRing } from './key-ring';
import { Sealer } from './sealer';

const secret = (): string => randomBytes(32).toString('base64');
const ring = (text: string): KeyRing => {
  const parsed = KeyRing.parse(text);
  if (typeof parsed === 'string') throw new Error(parsed);
  return parsed;
};
const [a, b] = [secret(), secret()];
const PLACE = ['account', 'job'];
const sealer = (text: string): Sealer => new Sealer(ring(text), 'job credentials');

describe('a ring of keys', () => {
  it('has keys of its own for each use, derived from each of its keys in order', () => {
    const keys = KEY_USES.map((use) => ring(`one:${a},two:${b}`).for(use));
    expect(keys.map((of) => of.map(({ id }) => id))).toEqual(KEY_USES.map(() => ['one', 'two']));
    expect(new Set(keys.flat().map((key) => key.secret.toString('hex'))).size).toBe(2 * KEY_USES.length);
    for (const key of keys.flat()) expect(key.secret.toString('base64')).not.toBe(a);
  });

  it('gives a bare key an id that stays the same and that an id written out can repeat', () => {
    const [{ id }] = ring(a).for('content links');
    expect(id).toMatch(/^[0-9a-f]{8}$/);
    expect(ring(`two:${b}, ${a}`).for('content links')[1]?.id).toBe(id);
    expect(ring(`${id}:${a}`).for('content links')).toEqual(ring(a).for('content links'));
  });

  it.each([
    ['', 'base64'],
    ['x', 'base64'],
    [`${a},`, 'base64'],
    [randomBytes(16).toString('base64'), 'base64'],
    [`a b:${a}`, 'an id has'],
    [`:${a}`, 'an id has'],
    [`one:${a},one:${b}`, 'same id'],
    [`${a},${a}`, 'same id'],
  ])('refuses %p without showing it', (text, fault) => {
    expect(KeyRing.parse(text)).toContain(fault);
    expect(KeyRing.parse(text)).not.toContain(a);
  });
});

describe('what is sealed', () => {
  it('opens in its place, and in no other', () => {
    const of = sealer(a);
    const sealed = of.seal('a credential', PLACE);
    expect(of.open(sealed, PLACE, '')).toBe('a credential');
    expect(sealed.toString('latin1')).not.toContain('credential');
    expect(() => of.open(sealed, ['other account', 'job'], '')).toThrow();
    expect(() => of.open(sealed, ['account', 'other job'], '')).toThrow();
    expect(() => new Sealer(ring(a), 'part links').open(sealed, PLACE, '')).toThrow();
    sealed[sealed.length - 1] = (sealed.at(-1) ?? 0) ^ 1;
    expect(() => of.open(sealed, PLACE, '')).toThrow();
  });

  it('opens through a rotation: the new key is accepted, then seals, then the old one goes', () => {
    const old = sealer(`one:${a}`);
    const accepting = sealer(`one:${a},two:${b}`);
    const sealing = sealer(`two:${b},one:${a}`);
    const rotated = sealer(`two:${b}`);
    const before = old.seal('x', PLACE);
    for (const each of [accepting, sealing]) expect(each.open(before, PLACE, '')).toBe('x');
    expect(() => rotated.open(before, PLACE, '')).toThrow('the key one is not in the ring');
    for (const each of [accepting, sealing, rotated]) expect(each.open(sealing.seal('y', PLACE), PLACE, '')).toBe('y');
  });

  it('opens in the form before this one, with any key of the ring', () => {
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', Buffer.from(a, 'base64'), iv).setAAD(Buffer.from('job'));
    const body = Buffer.concat([cipher.update('old'), cipher.final()]);
    const sealed = Buffer.concat([iv, cipher.getAuthTag(), body]);
    for (const text of [a, `two:${b},one:${a}`, `one:${a},two:${b}`]) {
      expect(sealer(text).open(sealed, PLACE, 'job')).toBe('old');
    }
    expect(() => sealer(a).open(sealed, PLACE, 'another job')).toThrow();
    expect(() => sealer(b).open(sealed, PLACE, 'job')).toThrow();
  });
});
