import fc from 'fast-check';
import { PartBuffer } from './part-buffer';

/** What a part of `size` bytes makes of chunks. */
function partsOf(chunks: Buffer[], size: number): Buffer[] {
  const part = new PartBuffer(size);
  const parts: Buffer[] = [];
  for (const chunk of chunks) {
    for (let rest = chunk; rest.length > 0;) {
      if (part.isFull) {
        parts.push(Buffer.from(part.bytes));
        part.empty();
      }
      rest = part.take(rest);
    }
  }
  return [...parts, Buffer.from(part.bytes)];
}

describe('the buffer of a part', () => {
  it('cuts any chunks into parts of one size, and loses no byte', () => {
    const chunk = fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(fc.array(chunk), fc.integer({ min: 1, max: 70 }), (chunks, size) => {
        const parts = partsOf(chunks, size);
        expect(Buffer.concat(parts)).toEqual(Buffer.concat(chunks));
        for (const part of parts.slice(0, -1)) expect(part).toHaveLength(size);
        expect(parts.at(-1)?.length).toBeLessThanOrEqual(size);
      }),
    );
  });

  it('takes memory as bytes arrive, and not more than its size', () => {
    const part = new PartBuffer(1_000_000);
    part.take(Buffer.alloc(10));
    expect(part.bytes.buffer.byteLength).toBe(10);
    part.take(Buffer.alloc(600_000));
    part.take(Buffer.alloc(300_000));
    expect(part.bytes.buffer.byteLength).toBe(1_000_000);
    expect(part.take(Buffer.alloc(200_000))).toHaveLength(100_010);
  });
});
