import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { WorkingPoolsStore } from '../state';
import { QueueDepthStore, pendingJobs } from './queue-depth.store';

/** How much work a pool has for its workers. */
export interface PoolDemand {
  /** Jobs that run, or wait and may run by the running limits of their accounts; 1 where a deployment without a ready worker is wanted. */
  pendingJobs: number;
  runningJobs: number;
  /** Ids of the workers that run them. */
  busyWorkers: ReadonlySet<string>;
}

/** The SQL of how much work pools have for their workers. */
export class PoolDemandStore {
  private readonly depths = new QueueDepthStore();
  private readonly pools = new WorkingPoolsStore();

  /** Ids of the pools with jobs that wait or run. */
  async listWorking(statements: Statements): Promise<string[]> {
    const lists = [await this.pools.listWaiting(statements), await this.pools.listInFlight(statements)];
    return [...new Set(lists.flat())];
  }

  /** The demand of every pool that takes jobs or has some. Who is busy is read last: a worker that is idle here has run nothing since the depths were read. */
  async read(statements: Statements): Promise<ReadonlyMap<string, PoolDemand>> {
    const depths = await this.depths.measure(statements);
    const rows = await statements.rows<{ poolId: string; workers: string[] }>(Prisma.sql`
      SELECT j.pool_id, array_agg(DISTINCT a.worker_id::text) AS workers
      FROM jobs j JOIN job_attempts a ON a.job_id = j.id AND a.attempt = j.attempt
      WHERE j.delivery = 'leased' GROUP BY j.pool_id`);
    const busy = new Map(rows.map(({ poolId, workers }) => [poolId, new Set(workers)]));
    return new Map(
      depths.map((depth) => [
        depth.poolId,
        {
          pendingJobs: pendingJobs(depth),
          runningJobs: depth.leased,
          busyWorkers: busy.get(depth.poolId) ?? new Set(),
        },
      ]),
    );
  }
}
