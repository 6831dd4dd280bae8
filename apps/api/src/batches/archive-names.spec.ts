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
});
