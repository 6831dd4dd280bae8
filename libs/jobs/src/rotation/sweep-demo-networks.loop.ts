import { AccountStore } from '@millrace/accounts';
import { StorageStore } from '@millrace/assets';
import { ConstraintError, type Database } from '@millrace/database';
import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import type { AccountQueueStore } from './account-queue.store';

const BATCH = 100;
/** Far longer than processes cache that the account of a network is there (`NetworkAccounts`). */
const IDLE_SECONDS = 86_400;

/** Deletes the accounts of networks that called a demo deployment, once nothing of theirs is left. */
export class SweepDemoNetworksLoop implements Loop {
  readonly name = 'sweep-demo-networks';
  readonly everyMs = 600_000;
  private readonly sweep: ItemSweep<string>;
  private readonly accounts = new AccountStore();
  private readonly storage = new StorageStore();

  constructor(
    private readonly database: Database,
    private readonly queues: Pick<AccountQueueStore, 'forgetAccount'>,
  ) {
    this.sweep = new ItemSweep({
      limit: BATCH,
      page: (after, limit) => this.accounts.listIdleNetworks(this.database, IDLE_SECONDS, after, limit),
      keyOf: (id) => id,
      work: (id) => this.remove(id),
    });
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }

  /** Foreign keys decide whether it is empty. @returns false when it is not. */
  private async remove(id: string): Promise<boolean> {
    try {
      return await this.database.transaction(async (tx) => {
        await this.queues.forgetAccount(tx, id);
        await this.storage.forgetAccount(tx, id);
        return this.accounts.removeNetwork(tx, id, IDLE_SECONDS);
      });
    } catch (error) {
      if (error instanceof ConstraintError && error.kind === 'foreign_key') return false;
      throw error;
    }
  }
}
