import type { Statements } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import type { JobSettings } from '../job.settings';
import type { AccountQueueStore } from './account-queue.store';

/**
 * Applies the weight and the running limit of every account to its places in the rotations. A change of an account does so
 * itself; this catches the first job of an account that was submitted at the same moment, and a default that was changed.
 */
export class FollowAccountLimitsLoop implements Loop {
  readonly name = 'follow-account-limits';
  readonly everyMs = 30_000;

  constructor(
    private readonly database: Statements,
    private readonly store: AccountQueueStore,
    private readonly settings: Pick<JobSettings, 'runningLimitPerAccount'>,
  ) {}

  runOnce(): Promise<number> {
    return this.store.applyAllLimits(this.database, this.settings.runningLimitPerAccount);
  }
}
