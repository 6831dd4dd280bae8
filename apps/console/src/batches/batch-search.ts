import { JOB_STATUSES, type JobStatus } from '@millrace/contracts';

/** Whose batches are listed. */
export interface BatchesSearch {
  /** The deployment that they were submitted to; absent for the account's own surface. */
  deployment?: string;
}

/** Where a batch is looked for, and which of its jobs are shown, as it stands in the address. */
export interface BatchSearch extends BatchesSearch {
  status?: JobStatus;
}

const isStatus = (text: unknown): text is JobStatus =>
  typeof text === 'string' && (JOB_STATUSES as readonly string[]).includes(text);

/** Read the search of an address that anyone may have typed. */
export function readBatchesSearch({ deployment }: Record<string, unknown>): BatchesSearch {
  return typeof deployment === 'string' && deployment !== '' ? { deployment } : {};
}

/** Read the search of an address that anyone may have typed. */
export function readBatchSearch({ status, ...search }: Record<string, unknown>): BatchSearch {
  return { ...readBatchesSearch(search), ...(isStatus(status) ? { status } : {}) };
}

/** The search of a deployment's list, batch or job. */
export const searchOf = (deployment: string | undefined): BatchesSearch =>
  deployment === undefined ? {} : { deployment };
