import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import type { GroupRecord } from './plan';

/** The SQL of what the fleet last did for each pool. */
export class FleetGroupStore {
  /** What was recorded of these pools. */
  async list(tx: Statements, poolIds: readonly string[]): Promise<(GroupRecord & { poolId: string })[]> {
    return tx.rows(Prisma.sql`
      SELECT pool_id, wanted, running, phase, reason, failures, failure, next_try_at, surplus_since, stuck FROM fleet_groups
      WHERE pool_id = ANY(${[...poolIds]}::text[])`);
  }

  /**
   * Record how a pool is, while this holder leads.
   *
   * @returns false when another one leads by now.
   */
  async record(tx: Statements, poolId: string, group: GroupRecord, name: string, fence: bigint): Promise<boolean> {
    const { wanted, running, phase, reason, failures, failure, nextTryAt, surplusSince, stuck } = group;
    const written = await tx.execute(Prisma.sql`
      INSERT INTO fleet_groups
        (pool_id, wanted, running, phase, reason, failures, failure, next_try_at, surplus_since, stuck, updated_at)
      SELECT ${poolId}, ${wanted}::int, ${running}::int, ${phase}, ${reason}, ${failures}::int, ${failure},
        ${nextTryAt}::timestamptz, ${surplusSince}::timestamptz, ${stuck}::boolean, now()
      FROM fleet_leases WHERE name = ${name} AND fence = ${fence}
      ON CONFLICT (pool_id) DO UPDATE SET wanted = excluded.wanted, running = excluded.running, phase = excluded.phase,
        reason = excluded.reason, failures = excluded.failures, failure = excluded.failure, next_try_at = excluded.next_try_at,
        surplus_since = excluded.surplus_since, stuck = excluded.stuck, updated_at = excluded.updated_at`);
    return written > 0;
  }
}
