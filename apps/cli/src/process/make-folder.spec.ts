import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from './make-folder';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'millrace-folder-'));
});
afterEach(() => rm(home, { recursive: true }));

describe('a folder', () => {
  it('is made with those above it, and left as it is when it is there', async () => {
    const path = join(home, 'a', 'b');
    await makeFolder(path, 0o700);
    await makeFolder(path);
    expect((await stat(join(home, 'a'))).mode & 0o777).toBe(0o700);
  });

  it('is refused where a file stands, or one of those above it is a file', async () => {
    const file = join(home, 'file');
    await writeFile(file, '');
    await expect(makeFolder(file)).rejects.toThrow('EEXIST');
    await expect(makeFolder(join(file, 'b', 'c'))).rejects.toThrow('ENOTDIR');
  });

  it('is refused where the system takes no folders', async () => {
    await expect(makeFolder('/proc/millrace/out')).rejects.toThrow('/proc');
  });
});
