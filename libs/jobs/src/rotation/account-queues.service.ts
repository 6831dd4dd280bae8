import type { Statements } from '@millrace/database';
import type { JobSettings } from '../job.settings';
import type { AccountLoad, AccountQueueStore } from './account-queue.store';
import { PoolDemandStore } from './pool-demand.store';
import type { QueueDepth, QueueDepthStore } from './queue-depth.store';

/** What accounts have in the queues of all pools, and the limits by which they take their turns. */
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

  /** Jobs of a pool that have not ended. */
  async livingIn(tx: Statements, deploymentId: string): Promise<number> {
    return this.store.livingIn(tx, deploymentId);
  }

  /** How much work each pool has. */
  async depths(): Promise<QueueDepth[]> {
    return this.depth.measure(this.database);
  }

  /** Ids of the pools with jobs that wait or run. */
  async workingPools(): Promise<string[]> {
    return new PoolDemandStore().listWorking(this.database);
  }

  /** Apply the account's limits to the jobs that it has waiting, in the transaction that changes the limits. */
  async applyLimits(
    tx: Statements,
    account: { id: string; weight: number; runningLimit: number | null },
  ): Promise<void> {
    const runningLimit = account.runningLimit ?? this.settings.runningLimitPerAccount;
    await this.store.setTerms(tx, account.id, { weight: account.weight, runningLimit });
  }
}
