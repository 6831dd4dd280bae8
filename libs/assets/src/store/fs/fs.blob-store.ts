import { randomUUID } from 'node:crypto';
import { access, constants, mkdir, open, opendir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { BlobStoreError, type BlobStore, type ByteRange, type StageOptions } from '../blob-store';
import type { StagedBytes, StagedLeftover, StoredObject } from '../blob-store';
import { ByteMeter } from '../byte-meter';
import { codeOf, withFsFaults, fsFaultOf } from './fs-fault';
import { FsNoteStore } from './fs.note-store';
import { FsPartStore } from './fs.part-store';
import { stagedInFolder } from './fs-staged-bytes';
import { HELD_BYTES, writeAll, writeMetered } from './fs-writer';
import { takeSource } from '../staging-source';

const READ_BYTES = 256 * 1024;

/**
 * Blobs as files of one folder, for one machine or a shared file system. Staged files lie on the same volume as placed ones,
 * so placing is a rename: atomic, and durable once the file and its folders are synced.
 */
export class FsBlobStore implements BlobStore {
  readonly kind = 'fs';
  readonly stagingBytes = 0;
  private readonly stagingDir: string;
  private readonly blobsDir: string;
  readonly parts: FsPartStore;
  readonly notes: FsNoteStore;

  constructor(dir: string) {
    this.stagingDir = join(dir, 'staging');
    this.blobsDir = join(dir, 'blobs');
    this.notes = new FsNoteStore(join(dir, 'notes'));
    this.parts = new FsPartStore(this.stagingDir, (source, options) => this.stage(source, options));
  }

  async check(): Promise<void> {
    for (const dir of [this.stagingDir, this.blobsDir]) {
      try {
        await mkdir(dir, { recursive: true, mode: 0o700 });
        await access(dir, constants.R_OK | constants.W_OK | constants.X_OK);
      } catch (error) {
        const message = `The blob folder ${dir} cannot be created, read or written (${codeOf(error)}); fix it or set another.`;
        throw new BlobStoreError('denied', message, { cause: error });
      }
    }
  }

  async stage(source: Readable, { maxBytes, cover, signal }: StageOptions): Promise<StagedBytes> {
    const path = join(this.stagingDir, randomUUID());
    const meter = new ByteMeter(maxBytes);
    const chunks = takeSource(source, signal);
    const file = { heldBytes: HELD_BYTES, open: () => this.create(path) };
    try {
      const held = await writeMetered(chunks, file, meter, cover);
      // Few bytes have no file until they are made durable.
      const makeDurable = held === null ? () => sync(path) : () => this.write(path, held);
      const place = this.place.bind(this, path);
      return stagedInFolder(meter.finish(), { path, isWritten: held === null, makeDurable, place });
    } catch (error) {
      source.destroy();
      await rm(path, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  private async write(path: string, bytes: Buffer): Promise<void> {
    const file = await this.create(path);
    try {
      await writeAll(file, [bytes], bytes.length);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  private async create(path: string): Promise<FileHandle> {
    try {
      return await open(path, 'wx', 0o600);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      await mkdir(this.stagingDir, { recursive: true, mode: 0o700 });
      return open(path, 'wx', 0o600);
    }
  }

  /** @param durable when the bytes of `path` are; nobody finds them by their key before. */
  private async place(path: string, key: string, durable: Promise<void>): Promise<void> {
    const target = this.pathOf(key);
    // Also where the folder cannot be made: nothing is written after this has failed.
    const made = await mkdir(dirname(target), { recursive: true, mode: 0o700 }).finally(() => durable);
    await rename(path, target);
    // A new folder is durable when the folder that names it is.
    const top = made === undefined ? dirname(target) : dirname(made);
    const dirs = [dirname(target)];
    for (let dir = dirname(target); dir !== top; dir = dirname(dir)) dirs.push(dirname(dir));
    await Promise.all(dirs.map(sync));
  }

  async open(key: string, range?: ByteRange): Promise<Readable> {
    return withFsFaults(async () => {
      const file = await open(this.pathOf(key), 'r');
      return file.createReadStream({ ...range, highWaterMark: READ_BYTES });
    });
  }

  async stat(key: string): Promise<{ sizeBytes: number } | null> {
    return withFsFaults(async () => {
      try {
        return { sizeBytes: (await stat(this.pathOf(key))).size };
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return null;
        throw error;
      }
    });
  }

  async delete(key: string): Promise<void> {
    await withFsFaults(() => rm(this.pathOf(key), { force: true }));
  }

  /** Files have no URL: our own signed route serves them. */
  async presign(): Promise<null> {
    return null;
  }

  async *list(): AsyncIterable<StoredObject> {
    for await (const path of filesBelow(this.blobsDir)) {
      const found = await statOrGone(path);
      if (found === null) continue;
      const key = relative(this.blobsDir, path).split(sep).join('/');
      yield { key, sizeBytes: found.size, modifiedAt: found.mtime };
    }
  }

  async *stagedBefore(time: Date): AsyncIterable<StagedLeftover> {
    for await (const path of filesBelow(this.stagingDir)) {
      // A file that is still being written is touched by every batch.
      const found = await withFsFaults(() => statOrGone(path));
      if (found === null || found.mtime >= time) continue;
      yield { name: path, drop: () => withFsFaults(() => rm(path, { force: true })) };
    }
    yield* this.parts.emptyBefore(time);
  }

  close(): void {
    // Holds nothing open.
  }

  private pathOf(key: string): string {
    return join(this.blobsDir, key);
  }
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function* filesBelow(dir: string): AsyncGenerator<string> {
  let entries;
  try {
    entries = await opendir(dir);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw fsFaultOf(error);
  }
  for await (const entry of entries) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else yield path;
  }
}

async function statOrGone(path: string): Promise<{ size: number; mtime: Date } | null> {
  return stat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
}
