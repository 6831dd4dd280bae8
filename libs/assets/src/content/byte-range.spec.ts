import fc from 'fast-check';
import { readRange } from './byte-range';

describe('a Range header', () => {
  it.each([
    ['bytes=0-4', { start: 0, end: 4 }],
    ['bytes=5-', { start: 5, end: 9 }],
    ['bytes=-3', { start: 7, end: 9 }],
    ['bytes=-99', { start: 0, end: 9 }],
    ['bytes=9-9', { start: 9, end: 9 }],
    ['bytes=3-99999999999999999999', { start: 3, end: 9 }],
    ['BYTES= 1-2 ', { start: 1, end: 2 }],
  ])('%p asks ten bytes for a part', (header, part) => {
    expect(readRange(header, 10)).toEqual(part);
  });

  it.each(['bytes=10-', 'bytes=10-20', 'bytes=-0', 'bytes=99999999999999999999-'])(
    '%p asks ten bytes for what they have not',
    (header) => {
      expect(readRange(header, 10)).toBe('unsatisfiable');
    },
  );

  it.each([undefined, '', 'bytes=', 'bytes=-', 'bytes=a-b', 'bytes=5-4', 'bytes=0-1,3-4', 'items=0-1', 'bytes 0-1'])(
    '%p is answered with the whole',
    (header) => {
      expect(readRange(header, 10)).toBe('whole');
    },
  );

  it('finds no part in nothing', () => {
    expect(readRange('bytes=0-', 0)).toBe('unsatisfiable');
    expect(readRange('bytes=-5', 0)).toBe('unsatisfiable');
    expect(readRange(undefined, 0)).toBe('whole');
  });

  it('never yields a part that is not inside the content', () => {
    const digits = fc.stringMatching(/^\d{0,20}$/);
    const written = fc.tuple(digits, digits).map(([first, last]) => `bytes=${first}-${last}`);
    fc.assert(
      fc.property(fc.oneof(written, fc.string()), fc.nat(), (header, size) => {
        const range = readRange(header, size);
        if (typeof range === 'string') return;
        expect(range.start).toBeGreaterThanOrEqual(0);
        expect(range.end).toBeGreaterThanOrEqual(range.start);
        expect(range.end).toBeLessThan(size);
      }),
    );
  });

  it('yields exactly the part that a slice of the content would', () => {
    fc.assert(
      fc.property(fc.nat(50), fc.nat(60), fc.integer({ min: 1, max: 50 }), (start, end, size) => {
        const content = Array.from({ length: size }, (_, at) => at);
        const range = readRange(`bytes=${start}-${end}`, size);
        const expected = end < start ? content : content.slice(start, end + 1);
        if (range === 'unsatisfiable') expect(expected).toEqual([]);
        else if (range === 'whole') expect(expected).toEqual(content);
        else expect(content.slice(range.start, range.end + 1)).toEqual(expected);
      }),
    );
  });
});
