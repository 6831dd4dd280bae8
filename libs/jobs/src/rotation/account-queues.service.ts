import type { Statements } from '@millrace/database';
import type { QueueDepth, QueueDepthStore } from './queue-depth.store';
import type { JobSettings } from '../job.settings';
import type { AccountLoad, AccountQueueStore } from './account-queue.store';

/** An account's places in the queues of all pools. */
export class AccountQueues {
  constructor(
    private readonly database: Statements,
    private readonly store: AccountQueueStore,
    private readonly depth: QueueDepthStore,
    private readonly settings: Pick<JobSettings, 'runningLimitPerAccount'>,
  ) {}

  /** What the account has waiting and running now. */
  async load(accountId: string): Promise<AccountLoad> {
    return this.store.load(this.database, accountId);
  }

  /** How much work each pool has. */
  async depths(): Promise<QueueDepth[]> {
    return this.depth.measure(this.database);
  }

  /** Let jobs that wait go by the account's limits as they are now, in the transaction that changes them. */
  async follow(tx: Statements, account: { id: string; weight: number; runningLimit: number | null }): Promise<void> {
    const runningLimit = account.runningLimit ?? this.settings.runningLimitPerAccount;
    await this.store.setTerms(tx, account.id, { weight: account.weight, runningLimit });
  }
}
