import { randomUUID } from 'node:crypto';
import { chmod, mkdir, open, rename, rm, stat, statfs, truncate, unlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelFile } from '@millrace/contracts';
import { endEvictions, evictModel } from './eviction';
import { codeOf, exists, linkNew, namesIn, removeFile, sizeOf, syncFolder, unlessMissing } from './files';
import { NotedNames } from './noted-names';

/** The folder cannot be used for a cache; the message is a sentence for an operator. */
export class CacheFolderError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CacheFolderError';
  }
}

/** A complete model in the cache. */
export interface StoredModel {
  digest: string;
  sizeBytes: number;
  /** When it was staged last, on this host's clock. */
  usedAtMs: number;
  /** It is linked into the folder of an engine. */
  isLinked: boolean;
}

/** A model that is being fetched, or was until its process ended. It takes the room of the whole. */
export interface PartialModel {
  digest: string;
  path: string;
  sizeBytes: number;
  /** What of the disk it takes so far. */
  storedBytes: number;
  usedAtMs: number;
}

const DIGEST = /^[0-9a-f]{64}$/;
/** The unit of `stat.blocks`, on every system. */
const BLOCK_BYTES = 512;
/** Of the disk, left for locks, names and folders: without room for a lock nobody could make room. */
const SPARE_BYTES = 1024 * 1024;

/**
 * The files of the cache:
 *
 * - `models/DIGEST`: a complete, verified model. It comes by one link and never changes. Hard links to it are in the folders of
 *   engines: one with more than one link is in use, also for other processes and after a crash.
 * - `models/DIGEST.UUID.evicted`: one that is being evicted, for a moment, and for as long as an engine has it where another has come.
 * - `partial/DIGEST.UUID/`: `bytes`, as long as the whole from the beginning, so that its room is taken, and `done`, the pieces
 *   that are there.
 * - `names/DIGEST`: the last names by which graphs called it.
 * - `engines/`: what engines see. `locks/`: locks of the processes that share the cache.
 */
export class CacheFolder {
  private readonly noted: NotedNames;

  private constructor(readonly path: string) {
    this.noted = new NotedNames(join(path, 'names'));
  }

  /** @throws CacheFolderError where it cannot be made, or its file system has no hard links. */
  static async open(path: string): Promise<CacheFolder> {
    const folder = new CacheFolder(path);
    const probe = join(path, 'locks', `${randomUUID()}.probe`);
    try {
      for (const part of ['models', 'partial', 'names', 'engines', 'locks']) {
        await mkdir(join(path, part), { recursive: true });
      }
      await writeFile(probe, '');
      await linkNew(probe, `${probe}.link`);
    } catch (error) {
      const message = `The model cache cannot use ${path}: ${codeOf(error) || String(error)}. It needs a folder that can be written to, on a file system with hard links.`;
      throw new CacheFolderError(message, { cause: error });
    } finally {
      await Promise.allSettled([unlink(probe), unlink(`${probe}.link`)]);
    }
    return folder;
  }

  get locks(): string {
    return join(this.path, 'locks');
  }

  get engines(): string {
    return join(this.path, 'engines');
  }

  model(digest: string): string {
    return join(this.path, 'models', digest);
  }

  /** Whether a complete model is there. One of another length is no model, and is removed. */
  async has({ digest, sizeBytes }: ModelFile): Promise<boolean> {
    const found = await sizeOf(this.model(digest));
    if (found === null || found === sizeBytes) return found !== null;
    await removeFile(this.model(digest));
    return false;
  }

  /** It is used now. */
  async touch(digest: string): Promise<void> {
    await unlessMissing(utimes(this.model(digest), new Date(), new Date()));
  }

  /** Add the name to those by which graphs call a model: the last few of each are kept. Lost names cost a hint of where it is. */
  async note({ digest, name }: ModelFile): Promise<void> {
    await this.noted.note(digest, name);
  }

  /** The names by which graphs call the models that are there, in a bounded list: those of the models that were used last go first. */
  async names(): Promise<string[]> {
    const lastUsedFirst = (await this.models()).sort((a, b) => b.usedAtMs - a.usedAtMs);
    return this.noted.list(lastUsedFirst.map(({ digest }) => digest));
  }

  async models(): Promise<StoredModel[]> {
    const models: StoredModel[] = [];
    for (const digest of (await namesIn(join(this.path, 'models'))).filter((name) => DIGEST.test(name))) {
      const found = await unlessMissing(stat(this.model(digest)));
      if (found === null) continue;
      models.push({ digest, sizeBytes: found.size, usedAtMs: found.mtimeMs, isLinked: found.nlink > 1 });
    }
    return models;
  }

  /** By which a link to a complete model is known. */
  async inodes(): Promise<Set<number>> {
    const inodes = new Set<number>();
    for (const digest of await namesIn(join(this.path, 'models'))) {
      const found = await unlessMissing(stat(this.model(digest)));
      if (found !== null) inodes.add(found.ino);
    }
    return inodes;
  }

  async partials(): Promise<PartialModel[]> {
    const partials: PartialModel[] = [];
    for (const name of await namesIn(join(this.path, 'partial'))) {
      const path = join(this.path, 'partial', name);
      const found = await unlessMissing(stat(join(path, 'bytes')));
      const storedBytes = (found?.blocks ?? 0) * BLOCK_BYTES;
      const usedAtMs = found?.mtimeMs ?? 0;
      partials.push({ digest: name.slice(0, 64), path, sizeBytes: found?.size ?? 0, storedBytes, usedAtMs });
    }
    return partials;
  }

  /** Take room for a model that is to be fetched. @returns the folder of its pieces. */
  async reserve({ digest, sizeBytes }: ModelFile): Promise<string> {
    const path = join(this.path, 'partial', `${digest}.${randomUUID()}`);
    try {
      await mkdir(path);
      await writeFile(join(path, 'done'), '');
      await writeFile(join(path, 'bytes'), '');
      await truncate(join(path, 'bytes'), sizeBytes);
    } catch (error) {
      await this.drop(path);
      throw error;
    }
    return path;
  }

  /**
   * The pieces of a model that a fetch before has left, under another name than that one had: should it still live, it finds its
   * own no more. @returns null where there are none of this size.
   */
  async adopt({ digest, sizeBytes }: ModelFile): Promise<string | null> {
    const found = (await this.partials()).filter((partial) => partial.digest === digest);
    let adopted: string | null = null;
    for (const partial of found) {
      const isUsable = partial.sizeBytes === sizeBytes && (await exists(join(partial.path, 'done')));
      if (adopted !== null || !isUsable) {
        await this.drop(partial.path);
        continue;
      }
      const path = join(this.path, 'partial', `${digest}.${randomUUID()}`);
      if ((await unlessMissing(rename(partial.path, path).then(() => true))) !== null) adopted = path;
    }
    return adopted;
  }

  /** Remove the pieces of a model. */
  async drop(path: string): Promise<void> {
    await rm(path, { recursive: true, force: true });
  }

  /**
   * The pieces are the whole, verified and on the disk: make a model of them. One that is there stays, as engines may have it.
   *
   * @returns false where they are gone.
   */
  async complete(path: string, digest: string): Promise<boolean> {
    const bytes = join(path, 'bytes');
    const moved = await unlessMissing(
      (async () => {
        await chmod(bytes, 0o444);
        await utimes(bytes, new Date(), new Date());
        await linkNew(bytes, this.model(digest));
        return true;
      })(),
    );
    if (moved === null) return false;
    await syncFolder(join(this.path, 'models'));
    await this.drop(path);
    return true;
  }

  /** Remove a model, unless an engine has it by now. @returns whether it is gone. */
  async evict(digest: string): Promise<boolean> {
    const isGone = await evictModel(join(this.path, 'models'), digest);
    if (isGone) await this.noted.forget(digest);
    return isGone;
  }

  /** Bytes of models that the disk still takes. */
  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.path);
    return Math.max(0, bavail * bsize - SPARE_BYTES);
  }

  /** Bytes that complete models and the pieces of others take of the disk. */
  async heldBytes(): Promise<number> {
    // In this order: what becomes whole meanwhile is counted twice rather than never.
    const pieces = (await this.partials()).map(({ storedBytes }) => storedBytes);
    const models = (await this.models()).map(({ sizeBytes }) => sizeBytes);
    return [...pieces, ...models].reduce((sum, bytes) => sum + bytes, 0);
  }

  /**
   * Remove what a crash may have left beside models and pieces: what was being evicted, names of what is gone, and the rest of what is
   * complete.
   *
   * @param isFetching whether somebody fetches a digest at this moment
   */
  async sweep(isFetching: (digest: string) => Promise<boolean>): Promise<void> {
    await endEvictions(join(this.path, 'models'));
    const models = new Set(await namesIn(join(this.path, 'models')));
    await this.noted.sweep(models);
    for (const { digest, path } of await this.partials()) {
      const isOver = models.has(digest) || !(await exists(join(path, 'bytes')));
      if (isOver && !(await isFetching(digest))) await this.drop(path);
    }
  }
}

/** Whether a file can be linked from one folder to the other: both are on one file system. */
export async function canLink(from: string, to: string): Promise<boolean> {
  const name = `${randomUUID()}.probe`;
  const handle = await open(join(from, name), 'wx');
  await handle.close();
  try {
    return await linkNew(join(from, name), join(to, name));
  } catch {
    return false;
  } finally {
    await Promise.allSettled([unlink(join(from, name)), unlink(join(to, name))]);
  }
}
