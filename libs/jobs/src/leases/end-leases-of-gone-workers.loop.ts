import type { Statements } from '@millrace/database';
import type { GoneWorkers } from '@millrace/messaging';
import type { Loop } from '@millrace/platform';
import type { JobSettings } from '../job.settings';
import { endLateLeases, listLateLeases } from './late-lease.store';

/**
 * Ends the leases of workers whose process is gone, rather than wait until they run out: for that a worker must have missed a
 * heartbeat, and Redis have seen its connection close. `rescue-lost-jobs` then gives their jobs the next attempt. Redis only
 * makes it sooner: without it, and for a worker that froze or is cut off, the lease decides.
 */
export class EndLeasesOfGoneWorkersLoop implements Loop {
  readonly name = 'end-leases-of-gone-workers';
  readonly everyMs = 500;

  constructor(
    private readonly database: Statements,
    private readonly goneWorkers: Pick<GoneWorkers, 'among'>,
    private readonly settings: Pick<JobSettings, 'leaseSeconds'>,
  ) {}

  async runOnce(): Promise<number> {
    const { leaseSeconds } = this.settings;
    const late = await listLateLeases(this.database, leaseSeconds);
    const gone = new Set(await this.goneWorkers.among([...new Set(late.map(({ workerId }) => workerId))]));
    const over = late.filter(({ workerId }) => gone.has(workerId));
    return over.length === 0 ? 0 : endLateLeases(this.database, leaseSeconds, over);
  }
}
