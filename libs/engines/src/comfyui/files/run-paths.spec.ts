import fc from 'fast-check';
import { posix } from 'node:path';
import { containedPath, isEscapingPath, prefixBase, stagedName } from './run-paths';

const segment = fc.oneof(fc.constantFrom('..', '.', '', '/', '\\', 'a', 'b c', '~', 'C:', '\u0000'), fc.string());
const path = fc
  .array(segment, { maxLength: 6 })
  .chain((segments) => fc.constantFrom('/', '\\', '').map((separator) => segments.join(separator)));

describe('paths', () => {
  it('of reported files stay in their folder, or are none', () => {
    fc.assert(
      fc.property(path, path, (subfolder, name) => {
        const contained = containedPath(subfolder, name);
        fc.pre(contained !== null);
        expect(posix.normalize(`/root/${contained}`)).toBe(`/root/${contained}`);
      }),
      { numRuns: 2_000 },
    );
  });

  it('of reported files are found again', () => {
    expect(containedPath('a/b', 'c.png')).toBe('a/b/c.png');
    expect(containedPath('', './c.png')).toBe('c.png');
    expect(containedPath('a\\b', 'c.png')).toBe('a/b/c.png');
  });

  it('that escape are known, on any system', () => {
    for (const text of ['/a', '\\a', '~', 'C:\\a', 'c:a', 'a/../b', '..', ' ..', 'file:a', 'a\u0000'])
      expect(isEscapingPath(text)).toBe(true);
    for (const text of ['a', 'a/b', 'a..b', '...', 'a b/c', '']) expect(isEscapingPath(text)).toBe(false);
  });

  it('of what is saved end in one plain name', () => {
    fc.assert(
      fc.property(path, (prefix) => {
        const base = prefixBase(prefix);
        expect(base).not.toMatch(/[\\/\u0000-\u001f]/);
        expect(['', '.', '..']).not.toContain(base);
        expect(base.length).toBeLessThanOrEqual(100);
      }),
      { numRuns: 2_000 },
    );
  });

  it('of input files are plain, and keep their extension', () => {
    expect(stagedName(3, 'My Cat – é.PNG')).toBe('3.png');
    expect(stagedName(1, 'no extension')).toBe('1');
    expect(stagedName(1, 'x.p/../g')).toBe('1');
  });
});
