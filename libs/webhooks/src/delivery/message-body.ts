import type { ClaimedMessage } from '../messages';

/** The job whose end is sent, and where the links lead. */
export interface JobOfMessage {
  accountId: string;
  jobId: string;
  /** Of links, such as `https://api.example.com`. */
  origin: string;
}

/**
 * Reads jobs as a poll answers them, several at once, in the order in which they were asked for; null for one that is past its
 * retention. The lib that knows jobs provides it.
 */
export type ReadJobs = (jobs: readonly JobOfMessage[]) => Promise<(object | null)[]>;

/** The data of each message, in their order; null where there is nothing to send any more. */
export async function readData(readJobs: ReadJobs, messages: readonly ClaimedMessage[]): Promise<(object | null)[]> {
  const ofJobs = messages.flatMap(({ accountId, jobId, origin }) =>
    jobId === null ? [] : { accountId, jobId, origin },
  );
  const jobs = ofJobs.length === 0 ? [] : await readJobs(ofJobs);
  let next = 0;
  return messages.map(({ jobId, endpointId }) =>
    jobId === null ? { endpoint_id: endpointId } : (jobs[next++] ?? null),
  );
}

/** What is sent: the text that is signed. */
export function bodyOf({ id, type, createdAt }: ClaimedMessage, data: object): string {
  return JSON.stringify({ id, type, timestamp: createdAt.toISOString(), data });
}
