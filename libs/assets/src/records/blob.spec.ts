import fc from 'fast-check';
import { blobKey, blobOfKey, type BlobRef } from './blob';

const hex = fc.stringMatching(/^[0-9a-f]{64}$/);
const blob = fc.record({
  accountId: fc.uuid(),
  hash: hex.map((digits) => `blake3:${digits}`),
  bornAt: fc.date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true }),
});

describe('the key of a blob', () => {
  it('names one life of one content of one account, and is read back', () => {
    fc.assert(fc.property(blob, (made: BlobRef) => expect(blobOfKey(blobKey(made))).toEqual(made)));
  });

  it('differs by account, by content and by life', () => {
    const one = {
      accountId: '0199aaaa-0000-7000-8000-000000000001',
      hash: `blake3:${'a'.repeat(64)}`,
      bornAt: new Date(1),
    };
    const others = [
      { ...one, accountId: '0199aaaa-0000-7000-8000-000000000002' },
      { ...one, hash: `blake3:${'b'.repeat(64)}` },
      { ...one, bornAt: new Date(2) },
    ];
    expect(new Set([one, ...others].map(blobKey)).size).toBe(4);
  });

  it.each(['', 'staging/x', '../../etc/passwd', `${'a'.repeat(36)}/aa/${'a'.repeat(64)}`])('is not %p', (key) => {
    expect(blobOfKey(key)).toBeNull();
  });
});
