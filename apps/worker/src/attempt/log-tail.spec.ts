import fc from 'fast-check';
import { LogTail } from './log-tail';

function tailOf(maxBytes: number, ...chunks: string[]): LogTail {
  const tail = new LogTail(maxBytes);
  for (const chunk of chunks) tail.append(chunk);
  return tail;
}

describe('the tail of a log', () => {
  it('is everything, in write order, while there is room', () => {
    expect(tailOf(10, 'one', '', 'two').read()).toEqual({ text: 'onetwo', truncated: false });
  });

  it('is the end of what was printed when there is more', () => {
    expect(tailOf(4, 'abc', 'def').read()).toEqual({ text: 'cdef', truncated: true });
  });

  it('never cuts a character in two', () => {
    expect(tailOf(4, 'aé€').read()).toEqual({ text: '€', truncated: true });
  });

  it('is empty and truncated where nothing is to be kept of something, and whole where nothing was printed', () => {
    expect(tailOf(0, 'x').read()).toEqual({ text: '', truncated: true });
    expect(tailOf(0).read()).toEqual({ text: '', truncated: false });
  });

  it('is a bounded end of any text, truncated exactly when it is not all', () => {
    const printed = fc.array(fc.string({ unit: 'grapheme', maxLength: 20 }), { maxLength: 30 });
    fc.assert(
      fc.property(fc.nat(60), printed, (maxBytes, chunks) => {
        const all = chunks.join('');
        const { text, truncated } = tailOf(maxBytes, ...chunks).read();
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
        expect(all.endsWith(text)).toBe(true);
        expect(truncated).toBe(text !== all);
        // No more is left out than must be: a character of at most 4 bytes.
        if (truncated) expect(Buffer.byteLength(text)).toBeGreaterThan(maxBytes - 4);
      }),
    );
  });

  it('knows how much was printed, what it left out included', () => {
    const tail = tailOf(2, 'abcdef');
    expect(tail.length).toBe(6);
    tail.append('gh');
    expect(tail.length).toBe(8);
  });
});
