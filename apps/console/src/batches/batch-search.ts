import { JOB_STATUSES, type JobStatus } from '@millrace/contracts';

/** Which jobs of a batch are shown, as it stands in the address. */
export interface BatchSearch {
  status?: JobStatus;
}

const isStatus = (text: unknown): text is JobStatus =>
  typeof text === 'string' && (JOB_STATUSES as readonly string[]).includes(text);

/** Read the search of an address that anyone may have typed. */
export function readBatchSearch({ status }: Record<string, unknown>): BatchSearch {
  return isStatus(status) ? { status } : {};
}
