import { join, normalize } from 'node:path/posix';
import fc from 'fast-check';
import { FILE_PATH_LENGTH, baseName, readFilePath } from './file-path';

describe('a file_path', () => {
  it.each([
    ['cat.png', 'cat.png'],
    ['images/cat 1.png', 'images/cat 1.png'],
    ['images\\cats\\one.png', 'images/cats/one.png'],
    ['./a//b/./c', 'a/b/c'],
    ['bild/kätzchen 🐈.png', 'bild/kätzchen 🐈.png'],
    ['..hidden/...', '..hidden/...'],
  ])('%p is %p', (text, path) => {
    expect(readFilePath(text)).toEqual({ path });
  });

  it.each([
    ['/etc/passwd', 'relative'],
    ['\\\\server\\share', 'relative'],
    ['C:\\cat.png', 'relative'],
    ['../cat.png', '..'],
    ['a/../../b', '..'],
    ['a\\..\\b', '..'],
    ['', 'name a file'],
    ['./', 'name a file'],
    ['cat\u0000.png', 'control'],
    ['cat\r\nSet-Cookie: a', 'control'],
    ['cat\u202egnp.exe', 'control'],
    ['cat\ud83d.png', 'control'],
    ['a'.repeat(FILE_PATH_LENGTH + 1), 'at most'],
  ])('%p is refused', (text, reason) => {
    expect(readFilePath(text)).toEqual({ reason: expect.stringContaining(reason) as string });
  });

  it('stays below the folder it is joined to, reads the same again, and keeps its last part', () => {
    const part = fc.oneof(fc.constantFrom('..', '.', '', 'C:', '\\', '/', 'a'), fc.string({ unit: 'grapheme' }));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), fc.constantFrom('/', '\\'), (parts, separator) => {
        const reading = readFilePath(parts.join(separator));
        if ('reason' in reading) return;
        expect(join('/folder', reading.path).startsWith('/folder/')).toBe(true);
        expect(normalize(reading.path)).toBe(reading.path);
        expect(readFilePath(reading.path)).toEqual(reading);
        expect(reading.path.endsWith(baseName(reading.path))).toBe(true);
        expect(baseName(reading.path)).not.toContain('/');
      }),
      { numRuns: 1_000 },
    );
  });
});
