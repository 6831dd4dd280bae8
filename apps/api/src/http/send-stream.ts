import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

type Part = string | Uint8Array;

/** An answer whose parts are made while its client reads. */
export interface StreamedAnswer {
  headers: OutgoingHttpHeaders;
  /** The first of them is made before anything is sent. */
  parts: AsyncIterable<Part>;
  /** What the parts pass through on their way, such as a compression. */
  through?: Transform;
}

/** Answer a request for the headers alone. @returns whether it was one. */
export function endHead(response: ServerResponse, headers: OutgoingHttpHeaders): boolean {
  if (response.req.method !== 'HEAD') return false;
  setHeaders(response, headers);
  response.end();
  return true;
}

/**
 * Send an answer as fast as its client takes it. Where its first part cannot be made, nothing has been sent, and the error can be
 * answered as any other; a later error cuts the answer off, so that it is not taken for a whole one. A client that stops reading ends it.
 *
 * @throws what a part failed with. A client that is gone is no failure.
 */
export async function sendStream(response: ServerResponse, { headers, parts, through }: StreamedAnswer): Promise<void> {
  if (response.destroyed) return;
  const faults: unknown[] = [];
  const made = noting(parts, (error) => {
    // Without its client what is being read may fail as well.
    if (!response.destroyed) faults.push(error);
  });
  try {
    const first = await made.next().catch(() => null);
    if (first !== null && !response.destroyed) {
      setHeaders(response, headers);
      const all = beginningWith(first, made);
      // What is left of its errors are the client's.
      await (through ? pipeline(all, through, response) : pipeline(all, response)).catch(() => undefined);
    }
  } finally {
    await made.return();
  }
  if (faults.length > 0) throw faults[0];
}

async function* noting(parts: AsyncIterable<Part>, note: (error: unknown) => void): AsyncGenerator<Part, void, void> {
  try {
    yield* parts;
  } catch (error) {
    note(error);
    throw error;
  }
}

async function* beginningWith(
  first: IteratorResult<Part, void>,
  rest: AsyncIterable<Part>,
): AsyncGenerator<Part, void, void> {
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}

function setHeaders(response: ServerResponse, headers: OutgoingHttpHeaders): void {
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) response.setHeader(name, value);
}
