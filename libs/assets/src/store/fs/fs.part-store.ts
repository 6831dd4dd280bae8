import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Refusal } from '@millrace/contracts';
import { BlobStoreError, type StageOptions, type StagedLeftover } from '../blob-store';
import { ByteMeter } from '../byte-meter';
import { codeOf, withFsFaults } from './fs-fault';
import { writeMetered } from './fs-writer';
import { wrongSize, type PartSpec, type PartStore } from '../part-store';
import type { AssembledBytes, StagedBytes } from '../staged-bytes';
import { takeSource } from '../staging-source';

const READ_BYTES = 256 * 1024;
const HANDLE = /^[0-9a-f-]{36}$/;

/** A part that is being written. */
interface PartWrite {
  transfer: Transfer;
  /** Resolves when it has ended, and what it left is removed. */
  ended: Promise<void>;
}

/**
 * Parts as files: a folder per upload, in the staging folder. A part is written once at a time by a process: what is sent of it again ends the
 * transfer before, so that an upload takes no more than twice the bytes that are reserved for it.
 */
export class FsPartStore implements PartStore {
  readonly holdsParts = false;
  /** The latest write of each part, by its path. */
  private readonly writes = new Map<string, PartWrite>();

  constructor(
    private readonly stagingDir: string,
    private readonly stage: (source: Readable, options: StageOptions) => Promise<StagedBytes>,
  ) {}

  async begin(): Promise<string> {
    const handle = randomUUID();
    await withFsFaults(() => mkdir(this.folderOf(handle), { recursive: true, mode: 0o700 }));
    return handle;
  }

  /** Files have no URL: our own signed route takes the bytes. */
  async link(): Promise<null> {
    return null;
  }

  async write(handle: string, part: PartSpec, source: Readable): Promise<void> {
    const path = this.pathOf(handle, part.number);
    const before = this.writes.get(path);
    before?.transfer.stop(sentAgain(part));
    const transfer = new Transfer(takeSource(source));
    const written = (before?.ended ?? Promise.resolve()).then(() => this.writePart(path, part, transfer.chunks()));
    const write = { transfer, ended: written.catch(() => undefined) };
    this.writes.set(path, write);
    try {
      await written;
    } catch (error) {
      source.destroy();
      throw error instanceof Refusal && error.code === 'payload_too_large' ? wrongSize(part) : error;
    } finally {
      if (this.writes.get(path) === write) this.writes.delete(path);
    }
  }

  private async writePart(target: string, part: PartSpec, chunks: AsyncIterable<Buffer>): Promise<void> {
    const path = `${target}.${randomUUID()}.partial`;
    const meter = new ByteMeter(part.sizeBytes);
    try {
      // A part is a file, no matter how small it is.
      await writeMetered(chunks, { heldBytes: null, open: () => open(path, 'wx', 0o600) }, meter);
      if (meter.finish().sizeBytes !== part.sizeBytes) throw wrongSize(part);
      await withFsFaults(() => rename(path, target));
    } catch (error) {
      await rm(path, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  async list(handle: string): Promise<PartSpec[]> {
    return withFsFaults(async () => {
      const names = await readdir(this.folderOf(handle)).catch((error: unknown): string[] => {
        if (codeOf(error) === 'ENOENT') return [];
        throw error;
      });
      const numbers = names.filter((name) => /^\d+$/.test(name)).map(Number);
      return Promise.all(
        numbers
          .sort((a, b) => a - b)
          .map(async (number) => ({ number, sizeBytes: (await stat(this.pathOf(handle, number))).size })),
      );
    });
  }

  /** Parts stay as they are until they are discarded. */
  async isAssembled(): Promise<boolean> {
    return false;
  }

  /** The parts are copied into one file, so that a late write to a part changes nothing. */
  async assemble(handle: string, count: number): Promise<AssembledBytes> {
    const staged = await this.stage(Readable.from(this.bytesOf(handle, count), { objectMode: false }), {
      maxBytes: Number.MAX_SAFE_INTEGER,
    });
    return {
      ...staged,
      release: () => staged.discard(),
      discard: async () => {
        await staged.discard();
        await this.abort(handle);
      },
    };
  }

  async abort(handle: string): Promise<void> {
    await withFsFaults(() => rm(this.folderOf(handle), { recursive: true, force: true }));
  }

  private async *bytesOf(handle: string, count: number): AsyncGenerator<Buffer> {
    for (let number = 1; number <= count; number += 1) {
      const file = await withFsFaults(() => open(this.pathOf(handle, number), 'r'));
      yield* file.createReadStream({ highWaterMark: READ_BYTES }) as AsyncIterable<Buffer>;
    }
  }

  private pathOf(handle: string, number: number): string {
    return join(this.folderOf(handle), String(number));
  }

  /** Folders of uploads in which nothing has changed since a time and nothing is: what was begun came to nothing, or its parts were dropped one by one. */
  async *emptyBefore(time: Date): AsyncIterable<StagedLeftover> {
    const all = join(this.stagingDir, 'parts');
    const noneIfGone = orIfGone<string[]>([]);
    for (const handle of await withFsFaults(() => readdir(all).catch(noneIfGone))) {
      const path = join(all, handle);
      const found = await withFsFaults(() => stat(path).catch(orIfGone(null)));
      if (found === null || !found.isDirectory() || found.mtime >= time) continue;
      if ((await withFsFaults(() => readdir(path).catch(noneIfGone))).length > 0) continue;
      // A part that has come meanwhile keeps it.
      yield { name: path, drop: () => withFsFaults(() => rmdir(path).catch(orIfGone(undefined, 'ENOTEMPTY'))) };
    }
  }

  private folderOf(handle: string): string {
    if (!HANDLE.test(handle)) throw new BlobStoreError('missing', 'There is no such upload.');
    return join(this.stagingDir, 'parts', handle);
  }
}

/** Handles the error of what is not there, or another code: with a value. @throws any other error. */
function orIfGone<T>(value: T, ...codes: string[]): (error: unknown) => T {
  return (error) => {
    if (![...codes, 'ENOENT'].includes(codeOf(error) ?? '')) throw error;
    return value;
  };
}

/** The bytes of a part, until it is stopped, also while its sender is silent: a stream that waits for its next bytes does not end when it is destroyed. */
class Transfer {
  private reason: Refusal | null = null;
  private endWait: (reason: Refusal) => void = () => undefined;

  constructor(private readonly source: AsyncIterable<Buffer>) {}

  stop(reason: Refusal): void {
    this.reason = reason;
    this.endWait(reason);
  }

  /** @throws the reason with which it was stopped; what the source does. */
  async *chunks(): AsyncGenerator<Buffer> {
    const iterator = this.source[Symbol.asyncIterator]();
    for (;;) {
      if (this.reason !== null) throw this.reason;
      const next = await this.whileGoing(iterator.next());
      if (next.done === true) return;
      yield next.value;
    }
  }

  /** A promise for each wait: one that all of them raced against would keep the bytes of each. */
  private whileGoing<T>(wait: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.endWait = reject;
      wait.then(resolve, reject);
    });
  }
}

function sentAgain({ number }: PartSpec): Refusal {
  const message = `Part ${number} is being sent again, which ended this transfer; send a part once at a time.`;
  return new Refusal('invalid_request', message, { status: 400 });
}
