import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { BootError } from '@millrace/platform';

/**
 * Make the folder for the files of a worker's attempts, empty.
 *
 * @param given the folder that its operator chose. Without one the worker gets one of its own, by host, pool and process id, and
 * the folders of workers that ended without removing theirs are removed.
 * @throws BootError when the place of these folders is somebody else's.
 */
export async function openWorkDir(given: string | undefined, pool: string, temporary = tmpdir()): Promise<string> {
  const path =
    given ?? join(await openPlace(join(temporary, `millrace-worker-${hostname()}-${pool}`)), `${process.pid}`);
  await rm(path, { recursive: true, force: true });
  await mkdir(path, { recursive: true });
  return path;
}

async function openPlace(place: string): Promise<string> {
  await mkdir(place, { recursive: true, mode: 0o700 });
  // Anyone can make a folder, or a link, of this name in the temporary folder.
  const found = await lstat(place);
  if (!found.isDirectory() || (process.getuid !== undefined && found.uid !== process.getuid())) {
    throw new BootError(`${place} belongs to another user: set MILLRACE_WORK_DIR.`);
  }
  const left = (await readdir(place)).filter((name) => !isAlive(Number(name)));
  await Promise.all(left.map((name) => rm(join(place, name), { recursive: true, force: true })));
  return place;
}

/** Whether a process of this number is alive; another user's is. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
