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

  /**
   * Let jobs that no worker has claimed wait for the version that stays: 500 of each pool at most.
   *
   * @param deploymentId whose jobs; null for those of all deployments.
   * @returns how many were moved.
   * @throws AggregateError what went wrong, once every pool was tried.
   */
  async moveOn(deploymentId: string | null): Promise<number> {
    let moved = 0;
    const failures: unknown[] = [];
    for (const pool of await this.store.list(this.database, POOLS, deploymentId)) {
      try {
        const count = await this.database.transaction((tx) => this.store.move(tx, pool, BATCH));
        if (count > 0) this.requestDispatch(pool.toPoolId);
        moved += count;
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'the jobs of some pools could not be moved');
    return moved;
  }
}
