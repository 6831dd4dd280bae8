import type { Loop } from '@millrace/platform';
import type { RetiredJobs } from './retired-jobs.service';

/**
 * Has jobs of versions that were rolled back or have ended run on the version that stays: those that a call could not move at once,
 * and those that a process accepted in the second in which it did not know yet.
 */
export class MoveRetiredJobsLoop implements Loop {
  readonly name = 'move-retired-jobs';
  readonly everyMs = 1_000;

  constructor(private readonly jobs: Pick<RetiredJobs, 'moveOn'>) {}

  runOnce(): Promise<number> {
    return this.jobs.moveOn(null);
  }
}
