import type { Statements } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import type { AccountQueueStore } from './account-queue.store';
import type { JobSettings } from '../job.settings';

/**
 * Lets every place in a queue go by its account's weight and running limit. A change of an account does so itself; this
 * catches the first job of an account that was submitted at the same moment, and a default that was changed.
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
    return this.store.followAccounts(this.database, this.settings.runningLimitPerAccount);
  }
}
