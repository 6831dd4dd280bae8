import type { Database } from '@millrace/database';
import type { RetiredPoolStore } from './retired-pool.store';

const POOLS = 100;
/** Jobs that one transaction moves. */
const BATCH = 500;

/** Has jobs of versions of deployments that are out of use run on those that stay. */
export class RetiredJobs {
  constructor(
    private readonly database: Database,
    private readonly store: RetiredPoolStore,
    /** Has the pool's lane filled soon. Never throws, never waits. */
    private readonly requestDispatch: (poolId: string) => void,
  ) {}

  /** Let jobs that no worker has claimed wait for the version that stays, some of them at once. @returns how many. */
  async moveOn(): Promise<number> {
    let moved = 0;
    for (const pool of await this.store.list(this.database, POOLS)) {
      const count = await this.database.transaction((tx) => this.store.move(tx, pool, BATCH));
      if (count > 0) this.requestDispatch(pool.toPoolId);
      moved += count;
    }
    return moved;
  }
}
