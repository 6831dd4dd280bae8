import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Refusal } from '@millrace/contracts';
import { BlobStoreError, type StageOptions } from '../blob-store';
import { ByteMeter } from '../byte-meter';
import { codeOf, withFsFaults } from './fs-fault';
import { writeMetered } from './fs-writer';
import { wrongSize, type PartSpec, type PartStore } from '../part-store';
import type { AssembledBytes, StagedBytes } from '../staged-bytes';
import { takeSource } from '../staging-source';

const READ_BYTES = 256 * 1024;
const HANDLE = /^[0-9a-f-]{36}$/;

/** Parts as files: a folder per upload, in the staging folder. */
export class FsPartStore implements PartStore {
  readonly holdsParts = false;

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
    const { number, sizeBytes } = part;
    const path = join(this.folderOf(handle), `${number}.${randomUUID()}.partial`);
    const meter = new ByteMeter(sizeBytes);
    const chunks = takeSource(source);
    try {
      // A part is a file, no matter how small it is.
      await writeMetered(chunks, { heldBytes: null, open: () => open(path, 'wx', 0o600) }, meter);
      const { sizeBytes: arrived } = meter.finish();
      if (arrived !== sizeBytes) throw wrongSize(part);
      await withFsFaults(() => rename(path, this.pathOf(handle, number)));
    } catch (error) {
      source.destroy();
      await rm(path, { force: true }).catch(() => undefined);
      throw error instanceof Refusal && error.code === 'payload_too_large' ? wrongSize(part) : error;
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

  private folderOf(handle: string): string {
    if (!HANDLE.test(handle)) throw new BlobStoreError('missing', 'There is no such upload.');
    return join(this.stagingDir, 'parts', handle);
  }
}
