import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { codeOf } from './error-facts';

/**
 * Make a folder and those above it, unless they exist. Not by `mkdir` with `recursive`, which loops without end below a
 * folder that takes no others, such as /proc (seen on Node 20).
 *
 * @param mode of those that are made.
 * @throws what the file system says.
 */
export async function makeFolder(folder: string, mode?: number): Promise<void> {
  const path = resolve(folder);
  try {
    await mkdir(path, mode);
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && (await isFolder(path))) return;
    const above = dirname(path);
    if (codeOf(error) !== 'ENOENT' || (await isFolder(above))) throw error;
    await makeFolder(above, mode);
    await makeFolder(path, mode);
  }
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
