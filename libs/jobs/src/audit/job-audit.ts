import type { Statements } from '@millrace/database';
import type { Auditor, Finding } from '@millrace/platform';
import { JOB_CHECKS, findBreaches } from './job-audit.store';

/** A check that finds more than this has found enough; one more row says so. */
const MOST_PER_CHECK = 100;

/** Proves the invariants of jobs, queues and outputs (README) on the rows themselves. Safe at any time: it only reads. */
export class JobAudit implements Auditor {
  readonly name = 'jobs';
  /** Names of the checks, in the order in which they are made. */
  readonly checks = JOB_CHECKS;

  constructor(private readonly database: Statements) {}

  async *findings(): AsyncGenerator<Finding> {
    for (const check of this.checks) {
      const rows = await findBreaches(this.database, check, MOST_PER_CHECK + 1);
      for (const { subject, detail } of rows.slice(0, MOST_PER_CHECK)) yield { check, subject, detail };
      if (rows.length > MOST_PER_CHECK) {
        yield { check, subject: '…', detail: `and more than the ${MOST_PER_CHECK} that are listed` };
      }
    }
  }
}
