import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { BootError } from '@millrace/platform';
import { openWorkDir } from './work-dir';

let temporary: string;
beforeEach(async () => (temporary = await mkdtemp(join(tmpdir(), 'millrace-work-dir-test-'))));
afterEach(() => rm(temporary, { recursive: true }));

/** The number of a process that has ended. */
async function endedPid(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid ?? 0;
}

describe('the work folder of a worker', () => {
  it('is the one that its operator chose, emptied', async () => {
    const given = join(temporary, 'chosen');
    await mkdir(given);
    await writeFile(join(given, 'left'), '');
    expect(await openWorkDir(given, 'default', temporary)).toBe(given);
    expect(await readdir(given)).toEqual([]);
    expect(await readdir(temporary)).toEqual(['chosen']);
  });

  it('is else its own, which no other user can enter', async () => {
    const path = await openWorkDir(undefined, 'default', temporary);
    await writeFile(join(path, 'left'), '');
    expect(await openWorkDir(undefined, 'default', temporary)).toBe(path);
    expect(await readdir(path)).toEqual([]);
    expect((await stat(dirname(path))).mode & 0o077).toBe(0);
    expect(dirname(await openWorkDir(undefined, 'other', temporary))).not.toBe(dirname(path));
  });

  it('is none that a living worker has; those of killed ones go', async () => {
    const place = dirname(await openWorkDir(undefined, 'default', temporary));
    const [living, killed] = [String(process.ppid), String(await endedPid())];
    for (const name of [living, killed]) {
      await mkdir(join(place, name, 'job.1'), { recursive: true });
    }
    await openWorkDir(undefined, 'default', temporary);
    expect((await readdir(place)).sort()).toEqual([living, String(process.pid)].sort());
    expect(await readdir(join(place, living))).toEqual(['job.1']);
  });

  it('is not made where somebody else has put a link', async () => {
    const place = dirname(await openWorkDir(undefined, 'default', temporary));
    await rm(place, { recursive: true });
    const target = join(temporary, 'target');
    await mkdir(join(target, String(await endedPid())), { recursive: true });
    await chmod(target, 0o700);
    await symlink(target, place);
    await expect(openWorkDir(undefined, 'default', temporary)).rejects.toThrow(BootError);
    expect(await readdir(target)).toHaveLength(1);
  });
});
