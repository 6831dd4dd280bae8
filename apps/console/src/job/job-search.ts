/** Where a job's page looks for it. */
export interface JobSearch {
  /** The deployment that the job was submitted to; absent for the account's own surface. */
  deployment?: string;
}

/** Read the search of an address that anyone may have typed. */
export function readJobSearch({ deployment }: Record<string, unknown>): JobSearch {
  return typeof deployment === 'string' && deployment !== '' ? { deployment } : {};
}
