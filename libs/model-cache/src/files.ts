import { access, link, open, readFile, readdir, stat, unlink } from 'node:fs/promises';

/** The code of an error of the file system; empty for any other error. */
export function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException | null)?.code ?? '');
}

/** Whether the disk, or its user's share of it, is full. */
export function isNoRoom(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(codeOf(error));
}

/** What `work` gives, or null where a file that it needs is not there. */
export async function unlessMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** @returns false where there is a file already. */
export async function linkNew(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

export async function readText(path: string): Promise<string | null> {
  return unlessMissing(readFile(path, 'utf8'));
}

export async function removeFile(path: string): Promise<void> {
  await unlessMissing(unlink(path));
}

export async function exists(path: string): Promise<boolean> {
  return (await unlessMissing(access(path).then(() => true))) ?? false;
}

/** Names in a folder; none where it is not there. */
export async function namesIn(path: string): Promise<string[]> {
  return (await unlessMissing(readdir(path))) ?? [];
}

export async function sizeOf(path: string): Promise<number | null> {
  return (await unlessMissing(stat(path)))?.size ?? null;
}

/** A rename survives the loss of power once its folder is on the disk. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}
