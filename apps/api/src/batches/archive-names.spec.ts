import { posix } from 'node:path';
import fc from 'fast-check';
import { archivePaths } from './archive-names';

describe('the paths of an archive', () => {
  it('are those of the outputs, in a folder of the job', () => {
    expect(archivePaths(7, ['a_00001_.png', 'sub/b.wav', 'A_00001_.png', 'é 😀.txt'])).toEqual([
      '00007/a_00001_.png',
      '00007/sub_b.wav',
      '00007/2-A_00001_.png',
      '00007/é 😀.txt',
    ]);
  });

  it.each(['../../etc/passwd', '/etc/passwd', 'C:\\Windows\\x', '..', '.', '', '\0', 'a/../../b', '....//x', ' .. /x'])(
    'stay in the folder: %j',
    (name) => {
      const [path = ''] = archivePaths(0, [name]);
      expect(path).toMatch(/^00000\/[^/\\\0:]+$/);
      expect(posix.normalize(path)).toBe(path);
    },
  );

  it('are as many as there are names, each once', () => {
    const name = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a.png', 'A.png', '2-a.png', '..', 'b/a.png'));
    fc.assert(
      fc.property(fc.array(name), (names) => {
        const paths = archivePaths(1, names).map((path) => path.toLowerCase());
        expect(new Set(paths).size).toBe(names.length);
        for (const path of paths) expect([posix.normalize(path), path.split('/').length]).toEqual([path, 2]);
      }),
    );
  });

  it('keep the beginning of a name and its ending, and fit a file system', () => {
    const name = `${'ä'.repeat(200)}.png`;
    const paths = archivePaths(1, [`A${name}`, `B${name}`, `A${name}`]).map((path) => path.slice('00001/'.length));
    expect(paths.map((path) => [path[0], path.slice(-4)])).toEqual([
      ['A', '.png'],
      ['B', '.png'],
      ['2', '.png'],
    ]);
    for (const path of paths) expect(Buffer.byteLength(path)).toBeLessThanOrEqual(255);
    // What a worker gives: a stem of 200 bytes, a number and an ending of 20.
    const given = `${'a'.repeat(200)}-1000.${'e'.repeat(19)}`;
    expect(archivePaths(1, [given])).toEqual([`00001/${given}`]);
  });

  const many = (nameOf: (n: number) => string): string[] => Array.from({ length: 1_000 }, (_, n) => nameOf(n));
  it.each([
    ['the same', many(() => 'a.png')],
    ['the same once they are cut', many((n) => `${'a'.repeat(300)}${n}`)],
    ['the names of copies, then the same', many((n) => (n < 500 ? `${n + 2}-a.png` : 'a.png'))],
    ['the same, and the names of copies between', many((n) => (n % 2 === 0 ? 'A.png' : `${n}-a.png`))],
    ['copies of copies', many((n) => ['a', '2-a', '2-2-a', '3-2-a'][n % 4] ?? '')],
  ])('are made with a few looks for each, however many names are alike: %s', (_, names) => {
    const looks = jest.spyOn(Set.prototype, 'has');
    const paths = archivePaths(1, names);
    const looked = looks.mock.calls.length;
    looks.mockRestore();
    expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(names.length);
    expect(looked).toBeLessThan(4 * names.length);
  });
});
