import type { Statements } from '@millrace/database';
import type { AccountLoad, AccountQueueStore } from './account-queue.store';

/** An account's places in the queues of all pools. */
export class AccountQueues {
  constructor(
    private readonly database: Statements,
    private readonly store: AccountQueueStore,
  ) {}

  /** What the account has waiting and running now. */
  async load(accountId: string): Promise<AccountLoad> {
    return this.store.load(this.database, accountId);
  }
}
