import { constants, createWriteStream, openSync } from 'node:fs';
import { lstat, readlink, realpath, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { dirname, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf } from './error-facts';

/** Between two looks whether a pipe has a reader. */
const READER_MS = 50;

/** What is at a path where something is to be saved. */
export interface SavePlace {
  /** Where the file is, behind links; there need not be one. */
  path: string;
  /** False for a device, a pipe and the like: it is written to, where a file is replaced by one that is whole. */
  isReplaceable: boolean;
}

/** @throws what the file system says. */
export async function savePlace(path: string): Promise<SavePlace> {
  const found = await stat(path).catch(() => null);
  if (found !== null && !found.isFile() && !found.isDirectory()) return { path, isReplaceable: false };
  return { path: await behindLinks(path), isReplaceable: true };
}

/** A link may lead to a file that is not there yet. */
async function behindLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    const isLink = await lstat(path).then(
      (found) => found.isSymbolicLink(),
      () => false,
    );
    return isLink ? behindLinks(resolve(await realpath(dirname(path)), await readlink(path))) : path;
  }
}

/**
 * Open what cannot be replaced, to write to it. A named pipe is waited for until it has a reader, without a thread that hangs in `open`: the
 * process could not end then.
 *
 * @throws what the file system says, and an `AbortError` where `signal` aborts.
 */
export async function openInPlace(path: string, signal?: AbortSignal): Promise<Writable> {
  if (!(await stat(path)).isFIFO()) return createWriteStream(path);
  for (;;) {
    try {
      const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
      return new Socket({ fd, readable: false, writable: true });
    } catch (error) {
      if (codeOf(error) !== 'ENXIO') throw error;
      await delay(READER_MS, undefined, { signal });
    }
  }
}
