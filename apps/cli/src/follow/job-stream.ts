import { JobEventSchemas, type Progress } from '@millrace/contracts';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { type ApiClient, type Job, type JobOutput, JobView, OutputView, readAs } from '../client';
import { ServiceFailure } from '../process';

/** An item of a job's stream (wire supplement, section 3); `alive` is a comment or an event that this client ignores. */
export type StreamItem =
  | { kind: 'job'; job: Job }
  | { kind: 'progress'; progress: Progress }
  | { kind: 'output'; output: JobOutput }
  | { kind: 'alive' };

/** Bytes without a complete event before the stream counts as broken; frames stay below 2 MiB by the contract. */
const FRAME_LIMIT_BYTES = 8 * 1024 * 1024;

/**
 * The events of a job as they arrive, until the service ends the stream.
 *
 * @throws {ServiceRefusal | ServiceFailure} when it cannot be opened, breaks, or sends an invalid event.
 */
export async function* readJobStream(
  api: ApiClient,
  eventsLink: string,
  signal: AbortSignal,
): AsyncGenerator<StreamItem> {
  const headers = { accept: 'text/event-stream' };
  const response = await api.open(api.link(eventsLink), { headers, signal, tries: 1, headWithinMs: 20_000 });
  const items: StreamItem[] = [];
  const parser = createParser({
    onEvent: (message) => items.push(itemOf(message)),
    onComment: () => items.push({ kind: 'alive' }),
  });
  const decoder = new TextDecoder();
  let pendingBytes = 0;
  yield { kind: 'alive' };
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    pendingBytes = items.length > 0 ? 0 : pendingBytes + chunk.byteLength;
    if (pendingBytes > FRAME_LIMIT_BYTES) throw new ServiceFailure('The event stream sent a frame without an end.');
    yield* items.splice(0);
  }
}

function itemOf({ event, data }: EventSourceMessage): StreamItem {
  if (event === 'status') return { kind: 'job', job: readAs(JobView, jsonOf(data), 'job') };
  if (event === 'output') return { kind: 'output', output: readAs(OutputView, jsonOf(data), 'output') };
  if (event === 'progress')
    return { kind: 'progress', progress: readAs(JobEventSchemas.progress, jsonOf(data), 'progress') };
  return { kind: 'alive' };
}

function jsonOf(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw new ServiceFailure('The event stream sent an event that is not JSON.', { code: 'unexpected_answer' });
  }
}
