import { constants } from 'node:fs';
import { copyFile, link, mkdir, mkdtemp, readdir, realpath, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { ComfyuiFolders } from '../comfyui.config';
import type { Fetched, FetchTarget, ServerFile } from '../protocol';
import { copyBytes } from './copy-bytes';
import { UnusableInput, PROOF_BYTES, type RunFiles } from './run-files';
import { RUNS_FOLDER } from './run-paths';

/** A run that goes on says so many times in it: see `keep`. */
const LEFT_AFTER_MS = 24 * 3_600_000;
/** A run may have reported a great many temporary files. */
const REMOVED_AT_ONCE = 64;

/** Files of a server whose folders this machine has. An output becomes the caller's by a second name where that will do. */
export class FolderRunFiles implements RunFiles {
  constructor(private readonly folders: ComfyuiFolders) {}

  async stage(path: string, name: string): Promise<void> {
    const target = join(this.folders.input, name);
    await mkdir(dirname(target), { recursive: true });
    try {
      // A copy, not a second name: a node that writes to its input must not reach the caller's bytes.
      await copyFile(path, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    } catch (error) {
      if (isMissing(error)) throw new UnusableInput('An input file is not there.');
      throw error;
    }
  }

  /** A second name costs less than reading the bytes, so none are held. */
  async fetch({ type, path }: ServerFile, { newPath }: FetchTarget, signal: AbortSignal): Promise<Fetched | null> {
    const destination = await newPath();
    try {
      const file = join(await realpath(this.folders[type]), path);
      // A symbolic link on the way could lead anywhere on the machine.
      if ((await realpath(file)) !== file) return null;
      await linkOrCopy(file, destination, signal);
      return destination;
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async list(folder: string): Promise<ServerFile[]> {
    try {
      const entries = await readdir(join(this.folders.output, folder), { recursive: true, withFileTypes: true });
      const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
      return paths.sort().map((path) => ({ type: 'output', path: relative(this.folders.output, path) }));
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  /** A folder that is not there, or is out of reach now, is left for the next time. */
  async keep(runId: string): Promise<void> {
    const now = new Date();
    await Promise.allSettled(this.runsFolders().map((folder) => utimes(join(folder, runId), now, now)));
  }

  async clean(runId: string, temporary: readonly ServerFile[]): Promise<void> {
    const leftovers = this.runsFolders().map((folder) => join(folder, runId));
    for (const { path } of temporary) leftovers.push(join(this.folders.temp, path));
    for (let at = 0; at < leftovers.length; at += REMOVED_AT_ONCE) {
      const some = leftovers.slice(at, at + REMOVED_AT_ONCE);
      await Promise.all(some.map((path) => rm(path, { recursive: true, force: true })));
    }
  }

  /** Where the files of runs are: a proof that a killed process leaves is removed as they are. */
  async prove(): Promise<void> {
    for (const folder of this.runsFolders()) {
      await mkdir(folder, { recursive: true });
      const proof = await mkdtemp(join(folder, 'proof-'));
      await writeFile(join(proof, 'bytes'), Buffer.alloc(PROOF_BYTES)).finally(() => rm(proof, { recursive: true }));
    }
  }

  /** Only where no other engine uses the folders. */
  async cleanAll(): Promise<void> {
    await Promise.all(this.runsFolders().map((folder) => rm(folder, { recursive: true, force: true })));
  }

  async runs(): Promise<string[]> {
    return [...new Set((await Promise.all(this.runsFolders().map(namesIn))).flat())];
  }

  async cleanLeft(runIds: readonly string[]): Promise<void> {
    const before = Date.now() - LEFT_AFTER_MS;
    for (const folder of this.runsFolders()) {
      for (const runId of await namesIn(folder)) {
        const path = join(folder, runId);
        if (runIds.includes(runId) || (await changedAt(path)) < before)
          await rm(path, { recursive: true, force: true });
      }
    }
  }

  /** Where everything of the runs is. Savers that write to the temporary folder are given the same prefixes; two of the folders may be one. */
  private runsFolders(): string[] {
    const { input, output, temp } = this.folders;
    return [...new Set([input, output, temp].map((folder) => join(folder, RUNS_FOLDER)))];
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
}

/** When something was added to the folder of a run, or to the folder of one of its nodes, in milliseconds; infinity where it is gone. */
async function changedAt(path: string): Promise<number> {
  const folders = [path, ...(await namesIn(path)).map((name) => join(path, name))];
  const times = folders.map((folder) => stat(folder).then(({ mtimeMs }) => mtimeMs));
  try {
    return Math.max(...(await Promise.all(times)));
  } catch (error) {
    if (isMissing(error)) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

async function linkOrCopy(from: string, to: string, signal: AbortSignal): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Another file system, one without links, or another user's file.
    if (code !== 'EXDEV' && code !== 'EPERM' && code !== 'EACCES' && code !== 'ENOTSUP' && code !== 'EMLINK')
      throw error;
    // A clone takes no time. Why there is none, the copy says where it matters.
    const cloned = copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE);
    await cloned.catch(() => copyBytes(from, to, signal));
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
