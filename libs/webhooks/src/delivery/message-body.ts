import type { ClaimedMessage } from '../messages';

/** Whose it is, and where the links lead. */
interface Addressed {
  accountId: string;
  /** Of links, such as `https://api.example.com`. */
  origin: string;
}

/** The job whose end is sent. */
export interface JobOfMessage extends Addressed {
  jobId: string;
}

/** The batch whose end is sent. */
export interface BatchOfMessage extends Addressed {
  batchId: string;
  /** How often its jobs had been tried again by then; null in messages of versions that did not record it. */
  retries: number | null;
}

/**
 * Reads jobs as a poll answers them, several at once, in the order in which they were asked for; null for one that is past its
 * retention. The lib that knows jobs provides it.
 */
export type ReadJobs = (jobs: readonly JobOfMessage[]) => Promise<(object | null)[]>;

/** The same of batches; null also for one whose jobs were tried again since: its next end has a message of its own. */
export type ReadBatches = (batches: readonly BatchOfMessage[]) => Promise<(object | null)[]>;

/** What messages are about, read when they are sent. */
export interface MessageReaders {
  jobs: ReadJobs;
  batches: ReadBatches;
}

/** The data of each message, in their order; null where there is nothing to send any more. */
export async function readData(
  readers: MessageReaders,
  messages: readonly ClaimedMessage[],
): Promise<(object | null)[]> {
  const ofJobs = messages.flatMap(({ accountId, jobId, origin }) =>
    jobId === null ? [] : { accountId, jobId, origin },
  );
  const ofBatches = messages.flatMap(({ accountId, batchId, origin, data }) =>
    batchId === null ? [] : { accountId, batchId, origin, retries: retriesOf(data) },
  );
  const jobs = ofJobs.length === 0 ? [] : await readers.jobs(ofJobs);
  const batches = ofBatches.length === 0 ? [] : await readers.batches(ofBatches);
  const next = { job: 0, batch: 0 };
  return messages.map(({ jobId, batchId, data, endpointId }) => {
    if (jobId !== null) return jobs[next.job++] ?? null;
    if (batchId !== null) return batches[next.batch++] ?? null;
    return data ?? { endpoint_id: endpointId };
  });
}

function retriesOf(data: { retries?: unknown } | null): number | null {
  return typeof data?.retries === 'number' ? data.retries : null;
}

/** What is sent: the text that is signed. */
export function bodyOf({ id, type, createdAt }: ClaimedMessage, data: object): string {
  return JSON.stringify({ id, type, timestamp: createdAt.toISOString(), data });
}
