import type { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { ZipDirectory } from './zip-directory';
import { archiveEnd, dataDescriptor, directoryRecord, localHeader, type ZipFile } from './zip-records';

/** A file of an archive. */
export interface ZipEntry {
  /** In the archive, with `/` between folders. Two files may have the same. */
  path: string;
  mtime: Date;
  /** Bytes, or texts. */
  body: Readable;
}

const MAX_NAME_BYTES = 0xffff;

/**
 * The bytes of a ZIP archive, made while they are read: a file is asked for when the one before has been read to its end. Nothing is
 * compressed, since pictures and sounds are already. Of a finished file only its record in the directory is kept.
 *
 * @param signal ends the file that is being read.
 * @throws Error when a file fails, ends before its end or has a path that leads out of the archive, and when `signal` is aborted.
 */
export async function* zipOf(
  files: AsyncIterable<ZipEntry>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const directory = new ZipDirectory();
  let offset = 0;
  for await (const entry of files) {
    const file = { name: Buffer.from(entry.path), mtime: entry.mtime, offset, crc: 0, sizeBytes: 0 };
    for await (const bytes of partsOf(entry, file, signal)) {
      offset += bytes.length;
      yield bytes;
    }
    directory.add(directoryRecord(file));
  }
  yield* directory.pieces();
  yield archiveEnd({ files: directory.files, offset, sizeBytes: directory.sizeBytes });
}

/** A file in the archive: header, bytes, and what these came to, which `file` has then, too. */
async function* partsOf(
  { path, body }: ZipEntry,
  file: ZipFile,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const end = (): unknown => body.destroy();
  signal.addEventListener('abort', end);
  // It may fail while its header waits for the client. Then reading it throws that; nobody listens before.
  body.on('error', () => undefined);
  try {
    signal.throwIfAborted();
    assertPath(path, file.name);
    yield localHeader(file);
    for await (const piece of body as AsyncIterable<Uint8Array | string>) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
      file.crc = crc32(bytes, file.crc);
      file.sizeBytes += bytes.length;
      yield bytes;
    }
    yield dataDescriptor(file);
  } finally {
    signal.removeEventListener('abort', end);
    body.destroy();
  }
}

/** Names come from customers, and some programs write where a path leads. */
function assertPath(path: string, name: Buffer): void {
  const isOutside = /^(?:[a-z]:|\/)/i.test(path) || path.includes('\\') || path.split('/').includes('..');
  if (isOutside || name.length === 0 || name.length > MAX_NAME_BYTES) {
    throw new Error(`no path of an archive: ${JSON.stringify(path.slice(0, 200))}`);
  }
}
