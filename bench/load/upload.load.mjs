import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';

const BOUNDARY = 'bench-upload-boundary';
const BLOCK = randomBytes(1024 * 1024);
const HEAD = Buffer.from(
  [
    ['name="content_type"', '', 'application/octet-stream'],
    ['name="file_path"', '', 'bench.bin'],
    ['name="file"; filename="bench.bin"', 'Content-Type: application/octet-stream', '', ''],
  ]
    .map(([name, ...rest]) => [`--${BOUNDARY}`, `Content-Disposition: form-data; ${name}`, ...rest].join('\r\n'))
    .join('\r\n'),
);
const TAIL = Buffer.from(`\r\n--${BOUNDARY}--\r\n`);

/**
 * Send a file that was never sent before, as multipart/form-data. Both sides are sent the same stream.
 *
 * @param {{ url: string, key: string, sizeBytes: number }} input
 * @returns {Promise<number>} seconds from the first byte to the answer that it is stored
 */
export async function uploadSeconds({ url, key, sizeBytes }) {
  // The same block all through, so that making the bytes costs nothing. A random beginning makes each file another one.
  randomBytes(16).copy(BLOCK);
  const startedAt = performance.now();
  const sent = request(url, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      'content-length': HEAD.length + sizeBytes + TAIL.length,
    },
  });
  let isAnswered = false;
  const answered = new Promise(
    (/** @type {(response: import('node:http').IncomingMessage) => void} */ resolve, reject) => {
      sent.once('response', resolve).once('error', reject);
    },
  ).finally(() => (isAnswered = true));
  // Observed below; until then a refusal must not count as an uncaught error.
  answered.catch(() => undefined);
  sent.write(HEAD);
  for (let rest = sizeBytes; rest > 0 && !isAnswered; rest -= BLOCK.length) {
    const isTaken = sent.write(BLOCK.subarray(0, rest));
    if (!isTaken) await Promise.race([once(sent, 'drain'), answered]);
  }
  sent.end(TAIL);
  const response = await answered;
  const answer = await text(response);
  const seconds = (performance.now() - startedAt) / 1_000;
  if (response.statusCode !== 201) throw new Error(`an upload was refused: ${response.statusCode} ${answer}`);
  return seconds;
}
