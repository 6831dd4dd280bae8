import fc from 'fast-check';
import { csvText } from './csv';

/** What a reader of RFC 4180 makes of one field. */
const fieldOf = (line: string): string => (line.startsWith('"') ? line.slice(1, -1).replaceAll('""', '"') : line);

describe('CSV', () => {
  it('brings every text through, and none that a spreadsheet would run', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const field = fieldOf(csvText(['a'], [[text]]).slice('a\r\n'.length, -2));
        expect(field === text || field === `'${text}`).toBe(true);
        expect(/^\s*[=+\-@\t\r]/.test(field)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', ' =1', '\r=1', '＝1'])('disarms %j', (text) => {
    expect(fieldOf(csvText(['a'], [[text]]).slice(3, -2))).toBe(`'${text}`);
  });

  it('leaves numbers alone, those below zero too', () => {
    expect(csvText(['a', 'b', 'c'], [[-5, 7n, null]])).toBe('a,b,c\r\n-5,7,\r\n');
  });
});
