import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { WorkingPoolsStore } from '../state';

/** How much work a pool has. */
export interface QueueDepth {
  poolId: string;
  waiting: number;
  /** Of those that wait, the ones that the running limits of their accounts let run now. */
  startable: number;
  dispatched: number;
  leased: number;
  /**
   * For how long the job has waited for a worker that has waited longest, from its submission or the end of its last attempt on: also one that is
   * dispatched, and no worker has claimed. Of an account at its running limit, what waits its turn waits for the account's own jobs and does not count,
   * and what is dispatched counts from then on. 0 when none waits.
   */
  oldestSeconds: number;
  /** Its deployment is stopped: nothing more is started. */
  stopped: boolean;
  /** Its deployment has no ready worker, and somebody wanted it whose requests are not all refused: its account is not suspended. */
  wanted: boolean;
}

/** Since when the job `j` waits for a worker. */
const waitsSince = Prisma.sql`CASE WHEN j.attempt = 0 THEN j.created_at ELSE coalesce((
  SELECT a.ended_at FROM job_attempts a WHERE a.job_id = j.id AND a.attempt = j.attempt), j.created_at) END`;

const working = new WorkingPoolsStore();

/**
 * Pools to measure: shared ones, those of versions that take jobs, and those with jobs. The pool of each version that there ever was is kept, and of
 * those that are gone nothing is read: an account makes and deletes as many as it likes. The first condition is that of an index.
 */
const measured = Prisma.sql`
  SELECT id AS pool_id FROM pools WHERE id NOT LIKE '________-____-____-____-____________%'
  UNION SELECT pool_id FROM deployments WHERE deleted_at IS NULL
  UNION SELECT v.pool_id FROM deployments d JOIN deployment_versions v ON v.deployment_id = d.id AND v.ended_at IS NULL
    WHERE d.deleted_at IS NULL
  UNION SELECT pool_id FROM (${working.waitingSql}) waits
  UNION SELECT pool_id FROM (${working.inFlightSql}) flies`;

/** The SQL that measures queues. */
export class QueueDepthStore {
  /**
   * Every pool that takes jobs or has some. Costs a walk over these pools, the accounts with jobs waiting and the jobs in flight, however many jobs wait
   * and however many pools are gone.
   */
  async measure(statements: Statements): Promise<QueueDepth[]> {
    return statements.rows(Prisma.sql`
      SELECT p.pool_id, queued.waiting, queued.startable, flying.dispatched, flying.leased,
             coalesce(extract(epoch FROM now() - least(queued.oldest, flying.oldest)), 0)::float8 AS oldest_seconds,
             coalesce(version.desired_state = 'stopped', false) AS stopped,
             version.wanted_at IS NOT NULL AND NOT EXISTS (
               SELECT FROM accounts a WHERE a.id = version.account_id AND a.status = 'suspended') AS wanted
      FROM (${measured}) p LEFT JOIN LATERAL (
        SELECT d.account_id, d.desired_state, d.wanted_at, d.deleted_at AS gone_at FROM deployments d WHERE d.pool_id = p.pool_id
        UNION ALL
        SELECT d.account_id, d.desired_state, v.wanted_at, coalesce(d.deleted_at, v.ended_at)
        FROM deployment_versions v JOIN deployments d ON d.id = v.deployment_id WHERE v.pool_id = p.pool_id
        LIMIT 1
      ) version ON true
      CROSS JOIN LATERAL (
        SELECT coalesce(sum(q.waiting), 0)::int AS waiting, min(first.since) FILTER (WHERE q.running_limit > q.in_flight) AS oldest,
               coalesce(sum(least(q.waiting, greatest(0, q.running_limit - q.in_flight))), 0)::int AS startable
        FROM account_turns t JOIN account_queues q ON q.pool_id = t.pool_id AND q.account_id = t.account_id LEFT JOIN LATERAL (
          SELECT ${waitsSince} AS since FROM jobs j
          WHERE j.pool_id = q.pool_id AND j.account_id = q.account_id AND j.delivery = 'waiting'
          ORDER BY j.priority DESC, j.id LIMIT 1
        ) first ON true
        WHERE t.pool_id = p.pool_id
      ) queued
      CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE j.delivery = 'dispatched')::int AS dispatched,
               count(*) FILTER (WHERE j.delivery = 'leased')::int AS leased,
               -- What no worker could take has no time of its dispatch: it waits for a worker, not for jobs of its account.
               min(CASE WHEN q.running_limit > q.in_flight OR j.dispatched_at IS NULL THEN ${waitsSince} ELSE j.dispatched_at END) FILTER (WHERE j.delivery = 'dispatched') AS oldest
        FROM jobs j JOIN account_queues q ON q.pool_id = j.pool_id AND q.account_id = j.account_id
        WHERE j.pool_id = p.pool_id AND j.delivery IN ('dispatched', 'leased')
      ) flying
      WHERE version.gone_at IS NULL OR queued.waiting + flying.dispatched + flying.leased > 0`);
  }
}

/**
 * Jobs that need workers of a pool: what runs, what is queued and may run beside it by the running limits of the accounts, and one where a
 * deployment without workers is wanted. Of a stopped deployment only what runs: its workers are let finish, and no others are brought.
 */
export function pendingJobs({ startable, dispatched, leased, stopped, wanted }: QueueDepth): number {
  if (stopped) return leased;
  return Math.max(startable + dispatched + leased, wanted ? 1 : 0);
}
