import { collectGarbage } from '@millrace/testing';
import fc from 'fast-check';
import { GatheredBytes } from './gathered-bytes';

const MIB = 1_048_576;

async function bytesInUse(): Promise<number> {
  await collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('bytes that arrive in pieces', () => {
  it('are the same in the end, and take twice their size and 1 KiB at most, however they were cut', () => {
    const lengths = fc.array(fc.oneof(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 5_000 })), {
      maxLength: 200,
    });
    fc.assert(
      fc.property(lengths, (cuts) => {
        const pieces = cuts.map((length, index) => Buffer.alloc(length, index));
        const gathered = new GatheredBytes();
        const taken = pieces.reduce((sum, piece) => sum + gathered.add(piece), 0);
        const whole = Buffer.concat(pieces);
        expect(gathered.whole().equals(whole)).toBe(true);
        expect(taken).toBeGreaterThanOrEqual(whole.length);
        expect(taken).toBeLessThanOrEqual(2 * whole.length + 1_024);
      }),
    );
  });

  it('take no more than 1 KiB beside them where a short piece follows large ones', () => {
    const gathered = new GatheredBytes();
    const taken = [40_000, 65_536, 300].map((length) => gathered.add(Buffer.alloc(length)));
    expect(taken).toEqual([40_000, 65_536, 1_024]);
  });

  it('are not copied where they came in one piece', () => {
    const gathered = new GatheredBytes();
    const piece = Buffer.from('{}');
    expect(gathered.add(piece)).toBe(2);
    expect(gathered.whole()).toBe(piece);
  });

  it('take no more memory than is counted where each piece is one byte', async () => {
    const before = await bytesInUse();
    const gathered = new GatheredBytes();
    let counted = 0;
    for (let at = 0; at < MIB; at += 1) counted += gathered.add(Buffer.allocUnsafeSlow(1));
    expect((await bytesInUse()) - before).toBeLessThan(3 * MIB);
    expect(counted).toBeLessThan(2 * MIB);
    expect(gathered.whole()).toHaveLength(MIB);
  });

  it('are none where none came', () => {
    expect(new GatheredBytes().whole()).toHaveLength(0);
  });
});
