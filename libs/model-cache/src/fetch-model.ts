import { Blake3Hasher } from '@napi-rs/blake-hash';
import { appendFile, open, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelFile } from '@millrace/contracts';
import { backoffMs } from '@millrace/platform';
import { isNoRoom, readText } from './files';
import { ModelUnavailable } from './model-unavailable';
import { pause, unlessAborted } from './wait';

/** How models are fetched. */
export interface FetchSettings {
  /** Pieces of one model that are fetched at a time. */
  parallel: number;
  pieceBytes: number;
  /** Without a byte for this long a request counts as stalled, in milliseconds. */
  stallMs: number;
  /** How often in a row a piece may bring nothing before the store counts as out of reach. */
  tries: number;
  retryBaseMs: number;
  retryCapMs: number;
}

export const DEFAULT_FETCH: Readonly<FetchSettings> = {
  parallel: 4,
  pieceBytes: 16 * 1024 * 1024,
  stallMs: 30_000,
  tries: 6,
  retryBaseMs: 250,
  retryCapMs: 8_000,
};

/** Where the bytes come from. */
export interface Origin {
  open: (range: { start: number; end: number }, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
  /** Whether to ask again is no use, because the library does not have the bytes. */
  isGone: (error: unknown) => boolean;
}

/** Bytes are read back for their hash in pieces of this size. */
const READ_BYTES = 1024 * 1024;

/** The bytes that came are not those that the library names. */
export class HashMismatch extends Error {}

/** The disk took no more. */
export class DiskFull extends Error {}

/** How many bytes of a model the pieces in a folder are. */
export async function fetchedBytes(folder: string, sizeBytes: number, pieceBytes: number): Promise<number> {
  const done = await readDone(folder, Math.ceil(sizeBytes / pieceBytes), pieceBytes);
  return Math.min(sizeBytes, done.size * pieceBytes);
}

/** Forget the pieces that are there: one of them is wrong. */
export async function forgetPieces(folder: string): Promise<void> {
  await writeFile(join(folder, 'done'), '');
}

/** A line for each piece: its size, because another process may have been set to another, and its number. */
async function readDone(folder: string, pieces: number, pieceBytes: number): Promise<Set<number>> {
  const lines = ((await readText(join(folder, 'done'))) ?? '').split('\n').slice(0, -1);
  const numbers = lines.map((line) => line.split(' ')).filter(([size]) => Number(size) === pieceBytes);
  return new Set(numbers.map(([, number]) => Number(number)).filter((number) => number >= 0 && number < pieces));
}

/**
 * Fetches one model into the folder of its pieces: several at a time, those that are there already not again. The hash is taken of
 * what was written, in order, while later pieces come.
 */
export class ModelFetch {
  private readonly pieces: number;
  private readonly stop = new AbortController();
  private readonly signal: AbortSignal;
  private readonly hasher = new Blake3Hasher();
  private hashedPieces = 0;
  private hashing: Promise<void> = Promise.resolve();
  private next = 0;
  private done: Set<number> = new Set();

  constructor(
    private readonly file: ModelFile,
    private readonly folder: string,
    private readonly origin: Origin,
    private readonly settings: FetchSettings,
    signal: AbortSignal,
    private readonly onBytes: (bytes: number) => void,
  ) {
    this.pieces = Math.ceil(file.sizeBytes / settings.pieceBytes);
    this.signal = AbortSignal.any([signal, this.stop.signal]);
  }

  /**
   * Resolves when all of it is there, verified and on the disk.
   *
   * @throws {HashMismatch | DiskFull | ModelUnavailable} or the reason of the signal
   */
  async run(): Promise<void> {
    this.done = await readDone(this.folder, this.pieces, this.settings.pieceBytes);
    const handle = await open(join(this.folder, 'bytes'), 'r+');
    try {
      this.hashDone(handle);
      const lanes = Array.from({ length: Math.min(this.settings.parallel, this.pieces) }, () => this.lane(handle));
      await this.allOf(lanes);
      await this.hashing;
      if (this.hasher.digest('hex') !== this.file.digest) throw new HashMismatch('the hash differs');
      await handle.datasync();
    } catch (error) {
      throw isNoRoom(error) ? new DiskFull('no room', { cause: error }) : error;
    } finally {
      this.stop.abort();
      await this.hashing.catch(() => undefined);
      await handle.close();
    }
  }

  /** The first failure ends the others; nothing writes any more when it is thrown. */
  private async allOf(lanes: Promise<void>[]): Promise<void> {
    let failure: { error: unknown } | null = null;
    const note = (error: unknown): void => {
      failure ??= { error };
      this.stop.abort();
    };
    await Promise.all(lanes.map((lane) => lane.catch(note)));
    if (failure !== null) throw (failure as { error: unknown }).error;
  }

  private async lane(handle: FileHandle): Promise<void> {
    for (let piece = this.next++; piece < this.pieces; piece = this.next++) {
      if (this.done.has(piece)) continue;
      await this.fetchPiece(handle, piece);
      await appendFile(join(this.folder, 'done'), `${this.settings.pieceBytes} ${piece}\n`);
      this.done.add(piece);
      this.hashDone(handle);
    }
  }

  private async fetchPiece(handle: FileHandle, piece: number): Promise<void> {
    const { pieceBytes, retryBaseMs, retryCapMs, tries } = this.settings;
    const end = Math.min(this.file.sizeBytes, (piece + 1) * pieceBytes);
    let at = piece * pieceBytes;
    for (let failures = 0; at < end;) {
      const before = at;
      try {
        await this.read({ start: at, end }, async (bytes) => {
          await writeAll(handle, bytes, at);
          at += bytes.length;
          this.onBytes(bytes.length);
        });
      } catch (error) {
        this.signal.throwIfAborted();
        if (isNoRoom(error)) throw error;
        if (this.origin.isGone(error)) throw this.unavailable('gone', 'the library has its bytes no more', error);
        failures = at > before ? 0 : failures + 1;
        if (failures >= tries) throw this.unavailable('unreachable', 'the store of the library does not answer', error);
        await pause(backoffMs(failures, retryBaseMs, retryCapMs), this.signal);
      }
    }
  }

  /** Read a range, which ends with an error where it is short, long or stalls. */
  private async read(range: { start: number; end: number }, take: (bytes: Uint8Array) => Promise<void>): Promise<void> {
    const stall = new AbortController();
    const signal = AbortSignal.any([this.signal, stall.signal]);
    const timer = setTimeout(() => stall.abort(new Error('the store stalls')), this.settings.stallMs);
    let left = range.end - range.start;
    let source: AsyncIterator<Uint8Array> | null = null;
    try {
      source = (await unlessAborted(this.origin.open(range, signal), signal))[Symbol.asyncIterator]();
      while (left > 0) {
        const { done, value } = (await unlessAborted(source.next(), signal)) as IteratorResult<Uint8Array, undefined>;
        if (done === true) throw new Error('the store sent less than was asked for');
        if (value.length > left) throw new Error('the store sent more than was asked for');
        left -= value.length;
        await take(value);
        timer.refresh();
      }
    } finally {
      clearTimeout(timer);
      stall.abort(new Error('over'));
      // Not waited for: one that stalls may never end.
      void Promise.resolve(source?.return?.()).catch(() => undefined);
    }
  }

  /** Hash what is there without a gap, after what is being hashed already. */
  private hashDone(handle: FileHandle): void {
    this.hashing = this.hashing.then(async () => {
      const { pieceBytes } = this.settings;
      while (this.done.has(this.hashedPieces)) {
        const end = Math.min(this.file.sizeBytes, (this.hashedPieces + 1) * pieceBytes);
        await this.hash(handle, this.hashedPieces * pieceBytes, end);
        this.hashedPieces += 1;
      }
    });
    // A failure is met where it is waited for.
    this.hashing.catch(() => undefined);
  }

  private async hash(handle: FileHandle, start: number, end: number): Promise<void> {
    const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, end - start));
    for (let at = start; at < end;) {
      if (this.stop.signal.aborted) return;
      const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, end - at), at);
      if (bytesRead === 0) throw new HashMismatch('the file is shorter than its pieces');
      this.hasher.update(buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
  }

  private unavailable(fault: 'gone' | 'unreachable', reason: string, cause: unknown): ModelUnavailable {
    const { folder, name } = this.file;
    return new ModelUnavailable(fault, `The model ${folder}/${name} could not be read: ${reason}.`, name, { cause });
  }
}

async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}
