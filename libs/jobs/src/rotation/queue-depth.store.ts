import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

/** How much work a pool has. */
export interface QueueDepth {
  poolId: string;
  waiting: number;
  dispatched: number;
  leased: number;
  /**
   * For how long the job has waited for a worker that has waited longest, from its submission or the end of its last attempt on: also one that is
   * dispatched, and no worker has claimed. 0 when none waits.
   */
  oldestSeconds: number;
  /** Its deployment is stopped: nothing more is started. */
  stopped: boolean;
  /** Its deployment has no ready worker, and somebody wanted it. */
  wanted: boolean;
  /** Its deployment is deleted, or was a version that has ended; its pool is kept for its jobs, of which there may be some yet. */
  over: boolean;
}

/** Since when the job `j` waits for a worker. */
const waitsSince = Prisma.sql`CASE WHEN j.attempt = 0 THEN j.created_at ELSE coalesce((
  SELECT a.ended_at FROM job_attempts a WHERE a.job_id = j.id AND a.attempt = j.attempt), j.created_at) END`;

/** The SQL that measures queues. */
export class QueueDepthStore {
  /** Every pool. Costs a walk over the accounts with jobs waiting and the jobs in flight, however many jobs wait. */
  async measure(statements: Statements): Promise<QueueDepth[]> {
    return statements.rows(Prisma.sql`
      SELECT p.id AS pool_id, queued.waiting, flying.dispatched, flying.leased,
             coalesce(extract(epoch FROM now() - least(queued.oldest, flying.oldest)), 0)::float8 AS oldest_seconds,
             coalesce(d.desired_state = 'stopped', false) AS stopped, dp.wanted_at IS NOT NULL AS wanted,
             coalesce(d.deleted_at, dp.ended_at) IS NOT NULL AS over
      FROM pools p LEFT JOIN (
        SELECT id AS deployment_id, pool_id, wanted_at, NULL AS ended_at FROM deployments
        UNION ALL SELECT deployment_id, pool_id, wanted_at, ended_at FROM deployment_versions
      ) dp ON dp.pool_id = p.id LEFT JOIN deployments d ON d.id = dp.deployment_id
      CROSS JOIN LATERAL (
        SELECT coalesce(sum(q.waiting), 0)::int AS waiting, min(first.since) AS oldest
        FROM account_turns t JOIN account_queues q ON q.pool_id = t.pool_id AND q.account_id = t.account_id LEFT JOIN LATERAL (
          SELECT ${waitsSince} AS since FROM jobs j
          WHERE j.pool_id = q.pool_id AND j.account_id = q.account_id AND j.delivery = 'waiting'
          ORDER BY j.priority DESC, j.id LIMIT 1
        ) first ON true
        WHERE t.pool_id = p.id
      ) queued
      CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE j.delivery = 'dispatched')::int AS dispatched,
               count(*) FILTER (WHERE j.delivery = 'leased')::int AS leased,
               min(${waitsSince}) FILTER (WHERE j.delivery = 'dispatched') AS oldest
        FROM jobs j WHERE j.pool_id = p.id AND j.delivery IN ('dispatched', 'leased')
      ) flying`);
  }
}

/**
 * Jobs that need workers of a pool: what is queued and what runs, and one where a deployment without workers is wanted. Of a
 * stopped deployment only what runs: its workers are let finish, and no others are brought.
 */
export function pendingJobs({ waiting, dispatched, leased, stopped, wanted }: QueueDepth): number {
  if (stopped) return leased;
  return Math.max(waiting + dispatched + leased, wanted ? 1 : 0);
}
