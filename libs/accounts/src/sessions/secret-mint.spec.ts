import { KeyRing } from '@millrace/platform';
import { SecretMint } from './secret-mint';

const ringOf = (byte: number): KeyRing => KeyRing.of(Buffer.alloc(32, byte));
const mint = new SecretMint(ringOf(1), 'console sessions');

describe('a secret', () => {
  it('is recognised by the mint of its ring and use, and by no other', () => {
    const secret = mint.make();
    expect(mint.made(secret)).toBe(true);
    expect(new SecretMint(ringOf(1), 'console sessions').made(secret)).toBe(true);
    expect(new SecretMint(ringOf(2), 'console sessions').made(secret)).toBe(false);
    expect(new SecretMint(ringOf(1), 'sign-in links').made(secret)).toBe(false);
  });

  it('is another each time', () => {
    expect(new Set(Array.from({ length: 100 }, () => mint.make())).size).toBe(100);
  });

  it('has one spelling', () => {
    const secret = mint.make();
    const changed = Array.from(secret, (character, at) => {
      return secret.slice(0, at) + (character === 'A' ? 'B' : 'A') + secret.slice(at + 1);
    });
    for (const other of [...changed, '', `${secret}=`, ` ${secret}`, secret.slice(1), `${secret}A`]) {
      expect(mint.made(other)).toBe(false);
    }
  });
});
