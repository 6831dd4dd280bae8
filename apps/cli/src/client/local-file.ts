import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { codeOf, reasonOf, UsageFailure } from '../process';

const READ_BYTES = 1024 * 1024;
const READ_FAULTS: Record<string, string> = { ENOENT: 'no such file', EISDIR: 'it is a folder' };

/** A piece of a file on this machine. */
export interface FilePiece {
  path: string;
  /** Its first byte. */
  start: number;
  sizeBytes: number;
}

/** The size of a file in bytes. @throws {UsageFailure} unless `path` is an existing file. */
export async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch((error: unknown) => Promise.reject(unreadable(path, error)));
  if (!found.isFile()) throw new UsageFailure(`${path} is not a file.`, 'Name a file.');
  return found.size;
}

/**
 * The bytes of a piece of a file, read as they are taken; a file that grows meanwhile is read as it was.
 *
 * @param onRead called with the bytes that have been read of the piece.
 * @throws {UsageFailure} when the file cannot be read, or has become shorter: its request would wait for the rest.
 */
export async function* bytesOf(
  { path, start, sizeBytes }: FilePiece,
  onRead: (bytes: number) => void = () => undefined,
): AsyncGenerator<Uint8Array> {
  if (sizeBytes === 0) return;
  const source = createReadStream(path, { start, end: start + sizeBytes - 1, highWaterMark: READ_BYTES });
  let read = 0;
  try {
    for await (const chunk of source as AsyncIterable<Uint8Array>) {
      yield chunk;
      onRead((read += chunk.byteLength));
    }
  } catch (error) {
    throw unreadable(path, error);
  }
  if (read < sizeBytes)
    throw new UsageFailure(`${path} has become shorter while it was sent.`, 'Send it again once nothing writes to it.');
}

export function unreadable(path: string, error: unknown): UsageFailure {
  const reason = READ_FAULTS[codeOf(error) ?? ''] ?? reasonOf(error);
  return new UsageFailure(`${path} cannot be read: ${reason}.`, 'Check the path.');
}
