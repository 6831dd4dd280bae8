import { randomUUID } from 'node:crypto';
import { rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { exists, isNoRoom, linkNew, namesIn, removeFile, unlessMissing } from './files';

/** Of the name of a file that is being evicted. */
const EVICTED = '.evicted';
const DIGEST_LENGTH = 64;

/**
 * Remove a model unless an engine has it. It gets another name first, by which nobody links it: a link that was made until then is seen, and the
 * model is put back. Without that the link could be the only one left, which a worker that comes after knows as no model and refuses.
 *
 * @param folder of the models
 * @returns false where an engine has it
 */
export async function evictModel(folder: string, digest: string): Promise<boolean> {
  const path = join(folder, digest);
  const grave = `${path}.${randomUUID()}${EVICTED}`;
  try {
    const isMine = await unlessMissing(rename(path, grave).then(() => true));
    return isMine === null || (await endEviction(path, grave));
  } catch (error) {
    if (!isNoRoom(error)) throw error;
    // The folder takes not even one more name on a full disk: only what is removed makes room.
    await removeFile(path);
    return true;
  }
}

/** End the evictions that processes which have ended left, and those of living ones before they do. */
export async function endEvictions(folder: string): Promise<void> {
  for (const name of await namesIn(folder)) {
    if (name.endsWith(EVICTED)) await endEviction(join(folder, name.slice(0, DIGEST_LENGTH)), join(folder, name));
  }
}

/**
 * Another process may end the same at the same time. Where the model has come again meanwhile, a file that an engine has stays under the name
 * of one that is evicted, by which its links are known.
 *
 * @returns false where an engine has it
 */
async function endEviction(path: string, grave: string): Promise<boolean> {
  const found = await unlessMissing(stat(grave));
  if (found === null) return !(await exists(path));
  if (found.nlink === 1) {
    await removeFile(grave);
    return true;
  }
  await putBack(grave, path);
  if ((await unlessMissing(stat(path)))?.ino === found.ino) await removeFile(grave);
  return false;
}

/** Unless a file is there. On a disk that takes no name more the next sweep does it. */
async function putBack(grave: string, path: string): Promise<void> {
  try {
    await unlessMissing(linkNew(grave, path));
  } catch (error) {
    if (!isNoRoom(error)) throw error;
  }
}
