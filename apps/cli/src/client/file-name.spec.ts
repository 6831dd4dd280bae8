import { join } from 'node:path';
import fc from 'fast-check';
import { numberedName, safeFileName } from './file-name';

describe('the name of a file that came from elsewhere', () => {
  it.each([
    ['picture_00001_.png', 'picture_00001_.png'],
    ['../../x', 'x'],
    ['..\\..\\windows.ini', 'windows.ini'],
    ['a\u001b[31m', 'a_[31m'],
    ['.bashrc', '_bashrc'],
    ['-rf', '_rf'],
    ['con.txt', '_con.txt'],
    ['invoice\u202egnp.exe', 'invoice_gnp.exe'],
    ['what?.png ', 'what_.png'],
    ['漢字.png', '漢字.png'],
    ['..', 'fallback'],
    ['', 'fallback'],
    ['/', 'fallback'],
  ])('%j becomes %j', (name, safe) => {
    expect(safeFileName(name, 'fallback')).toBe(safe);
  });

  it('is cut to what file systems hold, its extension kept', () => {
    const name = safeFileName(`${'漢'.repeat(300)}.png`, 'fallback');
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200);
    expect(name).toMatch(/^漢+\.png$/);
  });

  it('always names one visible file in the folder and none elsewhere', () => {
    const nasty = fc.string({ unit: fc.constantFrom('.', '/', '\\', '-', ' ', '\0', 'a', '\u202e', '😀', '\ud800') });
    fc.assert(
      fc.property(fc.oneof(nasty, fc.string({ unit: 'binary' })), (name) => {
        const safe = safeFileName(name, 'fallback');
        expect(join('/out', safe)).toBe(`/out/${safe}`);
        expect(safe).not.toMatch(/^[.\-\s]|[/\\\p{Cc}]|^$/u);
      }),
    );
  });

  it('is numbered before its extension', () => {
    expect([1, 2, 11].map((nth) => numberedName('a.b.png', nth))).toEqual(['a.b.png', 'a.b-2.png', 'a.b-11.png']);
    expect(numberedName('notes', 2)).toBe('notes-2');
  });
});
