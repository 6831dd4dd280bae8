import fc from 'fast-check';
import { generateApiKey, hashApiKey, isWellFormedApiKey } from './api-key';

describe('an API key', () => {
  it('is well formed, names its environment, and is kept only as a hash and four characters', () => {
    const made = generateApiKey('live');
    expect(made.key).toMatch(/^mr_live_[0-9A-Za-z]{36}$/);
    expect(isWellFormedApiKey(made.key)).toBe(true);
    expect(made.hash).toEqual(hashApiKey(made.key));
    expect(made.lastFour).toBe(made.key.slice(-4));
  });

  it('is distinguished from a mistyped one without a lookup', () => {
    const { key } = generateApiKey('live');
    fc.assert(
      fc.property(fc.integer({ min: 8, max: key.length - 1 }), fc.constantFrom(...'0aZ9'), (at, character) => {
        fc.pre(key[at] !== character);
        expect(isWellFormedApiKey(key.slice(0, at) + character + key.slice(at + 1))).toBe(false);
      }),
    );
  });

  it.each(['', 'mr_live_', 'Bearer x', 'sk-abc'])('is not %p', (text) => {
    expect(isWellFormedApiKey(text)).toBe(false);
  });
});
