import fc from 'fast-check';
import { KeyRing } from '@millrace/platform';
import { hashApiKey, isWellFormedApiKey, withChecksum } from './api-key';
import { ApiKeyMint } from './api-key-mint';

const [one, two] = ['A', 'B'].map((digit) => `${digit.repeat(43)}=`);
const mintOf = (text: string): ApiKeyMint => new ApiKeyMint(KeyRing.parse(text) as KeyRing);
const mint = mintOf(`1:${one}`);

describe('an API key', () => {
  it('is well formed, names its environment, and is kept only as a hash and four characters', () => {
    const made = mint.make('live');
    expect(made.key).toMatch(/^mr_live_[0-9A-Za-z]{36}$/);
    expect(isWellFormedApiKey(made.key)).toBe(true);
    expect(made.hash).toEqual(hashApiKey(made.key));
    expect(made.lastFour).toBe(made.key.slice(-4));
  });

  it('is distinguished from a mistyped one without a lookup', () => {
    const { key } = mint.make('live');
    fc.assert(
      fc.property(fc.integer({ min: 8, max: key.length - 1 }), fc.constantFrom(...'0aZ9'), (at, character) => {
        fc.pre(key[at] !== character);
        expect(isWellFormedApiKey(key.slice(0, at) + character + key.slice(at + 1))).toBe(false);
      }),
    );
  });

  it('is recognised by who has the secret that it was made with, also after that was replaced, and by nobody else', () => {
    const { key } = mint.make('live');
    expect(mint.made(key)).toBe(true);
    expect(mintOf(`2:${two},1:${one}`).made(key)).toBe(true);
    expect(mintOf(`2:${two}`).made(key)).toBe(false);
    expect(mint.made(mintOf(`2:${two},1:${one}`).make('live').key)).toBe(false);
  });

  it('is not recognised with another environment or other digits before its tag', () => {
    const body = mint.make('live').key.slice('mr_live_'.length, -6);
    expect(mint.made(withChecksum(`mr_test_${body}`))).toBe(false);
    const changed = (body.startsWith('0') ? '1' : '0') + body.slice(1);
    expect(mint.made(withChecksum(`mr_live_${changed}`))).toBe(false);
    for (const text of ['', 'x', 'mr_live_']) expect(mint.made(text)).toBe(false);
  });

  it('is well formed as one that was made before keys had a tag', () => {
    expect(isWellFormedApiKey(withChecksum(`mr_live_${'0aZ'.repeat(10)}`))).toBe(true);
  });

  it.each(['', 'mr_live_', 'Bearer x', 'sk-abc'])('is not %p', (text) => {
    expect(isWellFormedApiKey(text)).toBe(false);
  });
});
