import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { whenClosed } from '@millrace/platform';
import { sendStream } from '../send-stream';
import { zipOf, type ZipEntry } from './zip-stream';

/** The headers of an archive that is saved under a name. */
export function zipHeaders(fileName: string): OutgoingHttpHeaders {
  return { 'Content-Type': 'application/zip', 'Content-Disposition': `attachment; filename="${fileName}"` };
}

/**
 * Send a ZIP archive as one stream. One file is read at a time, as fast as the client takes it. A client that stops reading ends it; an
 * error after its begin cuts it off, so that it cannot be opened.
 *
 * @param files the next one is asked for when the one before has been read.
 * @throws what a file, or the next one, failed with; where that is the first, nothing has been sent. A client that is gone is no failure.
 */
export async function sendZip(
  response: ServerResponse,
  headers: OutgoingHttpHeaders,
  files: AsyncIterable<ZipEntry>,
): Promise<void> {
  const gone = new AbortController();
  whenClosed(response, () => gone.abort());
  await sendStream(response, { headers, parts: zipOf(files, gone.signal) });
}
