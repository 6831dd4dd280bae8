import { JobEventSchemas, type Progress } from '@millrace/contracts';
import { type ApiClient, type Job, type JobOutput, JobView, OutputView, readAs } from '../client';
import { type StreamEvent, readEvents } from './event-stream';

/** An item of a job's stream (wire supplement, section 3); `alive` is a comment or an event that this client ignores. */
export type StreamItem =
  | { kind: 'job'; job: Job }
  | { kind: 'progress'; progress: Progress }
  | { kind: 'output'; output: JobOutput }
  | { kind: 'alive' };

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
  for await (const message of readEvents(api, api.link(eventsLink), signal)) yield itemOf(message);
}

function itemOf(message: StreamEvent | null): StreamItem {
  if (message === null) return { kind: 'alive' };
  const { event, data } = message;
  if (event === 'status') return { kind: 'job', job: readAs(JobView, data(), 'job') };
  if (event === 'output') return { kind: 'output', output: readAs(OutputView, data(), 'output') };
  if (event === 'progress') return { kind: 'progress', progress: readAs(JobEventSchemas.progress, data(), 'progress') };
  return { kind: 'alive' };
}
