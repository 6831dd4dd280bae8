import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { bytesOf } from './local-file';

/** A request body that is read from its source as the connection takes it. */
export interface StreamedBody {
  headers: Record<string, string>;
  open(): Readable;
}

export interface FilePart {
  path: string;
  /** Bytes that are sent; a file that grows meanwhile is sent as it was. */
  sizeBytes: number;
  fileName: string;
  contentType: string;
}

/**
 * `multipart/form-data` (RFC 7578) of text fields and one file, the file last.
 *
 * @param onRead called with the bytes of the file that have been taken.
 */
export function multipartBody(
  fields: [name: string, value: string][],
  file: FilePart,
  onRead?: (bytes: number) => void,
): StreamedBody {
  const boundary = `millrace-${randomUUID()}`;
  const texts = fields.map(([name, value]) => `--${boundary}\r\n${disposition(name)}\r\n\r\n${value}\r\n`);
  const title = `${disposition('file')}; filename="${escaped(file.fileName)}"\r\ncontent-type: ${file.contentType}`;
  const head = Buffer.from(`${texts.join('')}--${boundary}\r\n${title}\r\n\r\n`);
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  return {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(head.byteLength + file.sizeBytes + tail.byteLength),
    },
    open: () => Readable.from(chunks(head, file, tail, onRead), { objectMode: false }),
  };
}

async function* chunks(
  head: Buffer,
  { path, sizeBytes }: FilePart,
  tail: Buffer,
  onRead?: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  yield head;
  yield* bytesOf({ path, start: 0, sizeBytes }, onRead);
  yield tail;
}

function disposition(name: string): string {
  return `content-disposition: form-data; name="${escaped(name)}"`;
}

/** As browsers do it (WHATWG HTML, multipart/form-data encoding algorithm). */
function escaped(name: string): string {
  return name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
}
