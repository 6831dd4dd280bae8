import { createParser } from 'eventsource-parser';
import type { ApiClient } from '../client';
import { ServiceFailure } from '../process';

/** An event of a stream. */
export interface StreamEvent {
  event: string | undefined;
  /** Its JSON. @throws {ServiceFailure} when it is none. */
  data: () => unknown;
}

/** Bytes without a complete event before the stream counts as broken; frames stay below 2 MiB by the contract. */
const FRAME_LIMIT_BYTES = 8 * 1024 * 1024;

/**
 * The events of a stream as they arrive, until the service ends it; null for a comment, and for its beginning.
 *
 * @throws {ServiceRefusal | ServiceFailure} when it cannot be opened, or breaks.
 */
export async function* readEvents(api: ApiClient, url: URL, signal: AbortSignal): AsyncGenerator<StreamEvent | null> {
  const headers = { accept: 'text/event-stream' };
  const response = await api.open(url, { headers, signal, tries: 1, headWithinMs: 20_000 });
  const items: (StreamEvent | null)[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => items.push({ event, data: () => jsonOf(data) }),
    onComment: () => items.push(null),
  });
  const decoder = new TextDecoder();
  let pendingBytes = 0;
  yield null;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    pendingBytes = items.length > 0 ? 0 : pendingBytes + chunk.byteLength;
    if (pendingBytes > FRAME_LIMIT_BYTES) throw new ServiceFailure('The event stream sent a frame without an end.');
    yield* items.splice(0);
  }
}

function jsonOf(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw new ServiceFailure('The event stream sent an event that is not JSON.', { code: 'unexpected_answer' });
  }
}
