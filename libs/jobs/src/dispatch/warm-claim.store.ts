import { Prisma } from '@prisma/client';
import type { DispatchMessage } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { WORKER_SILENCE_SECONDS } from '@millrace/deployments';
import { dispatchedOf, type DispatchedJob, type DispatchedRow } from '../rotation';

/** How long an attempt is left to an idle worker that holds its models, from its dispatch on. */
export const LEFT_FOR_SECONDS = 2;

/** A worker that was offered an attempt whose models it does not hold. */
export interface ColdOffer {
  poolId: string;
  workerId: string;
  /** Files of weights that the worker holds in memory. */
  warm: readonly string[];
  /** Files of weights that are on its disk. */
  disk: readonly string[];
  message: DispatchMessage;
}

/** What would be better than loading the models of the offered attempt. */
export interface WarmChoice {
  /**
   * The attempt in the lane longest whose models the worker holds in memory; where it lacks those of the offered one on its disk too, and
   * there is none, the one whose models it has on its disk.
   */
  instead: DispatchedJob | null;
  /**
   * Another worker has nothing to do, and holds the models of the offered attempt in memory, or has them on its disk where this one
   * has not.
   */
  hasWarmWorker: boolean;
}

interface ChoiceRow extends Partial<DispatchedRow> {
  hasWarmWorker: boolean;
}

/** The SQL that finds the best match of workers and attempts. It only reads: what it finds is claimed like anything else. */
export class WarmClaimStore {
  /**
   * Look for a better match among what fairness has already chosen: the attempts in the pool's lane, a few more than its
   * workers can run. The offered attempt is passed over for another as often as the pool has workers at most, so that it
   * waits for one job of each; and is left to an idle worker for a moment only, in case that one does not take it.
   */
  async choose(statements: Statements, offer: ColdOffer): Promise<WarmChoice> {
    const [row] = await statements.rows<ChoiceRow>(this.chooseSql(offer));
    return { instead: row && isJob(row) ? dispatchedOf(row) : null, hasWarmWorker: row?.hasWarmWorker ?? false };
  }

  /** The statement of `choose`, whose plan a test checks: it passes once over the pool's workers and over what is in flight. */
  chooseSql({ poolId, workerId, warm, disk, message }: ColdOffer): Prisma.Sql {
    const here = [...new Set([...warm, ...disk])];
    const mustFetch = !(message.models ?? []).every((name) => here.includes(name));
    const held = mustFetch ? here : [...warm];
    const holds = mustFetch
      ? Prisma.sql`(member.resident_models || member.disk_models)`
      : Prisma.sql`member.resident_models`;
    return Prisma.sql`
      WITH member AS MATERIALIZED (
        SELECT w.id, w.capacity, w.resident_models, w.disk_models FROM workers w
        WHERE w.pool_id = ${poolId} AND w.state = 'ready'
          AND w.last_seen_at > now() - make_interval(secs => ${WORKER_SILENCE_SECONDS})
      ), in_flight AS MATERIALIZED (
        SELECT j.id, j.attempt, j.delivery, j.worker_id, j.status, j.deadline_at, j.dispatched_at, j.traceparent, j.models
        FROM jobs j WHERE j.pool_id = ${poolId} AND j.delivery IN ('dispatched', 'leased')
      ), busy AS MATERIALIZED (
        SELECT j.worker_id, count(*) AS attempts FROM in_flight j WHERE j.delivery = 'leased' GROUP BY j.worker_id
      ), offered AS (
        SELECT j.id, j.models, j.dispatched_at FROM in_flight j
        WHERE j.id = ${message.jobId}::uuid AND j.delivery = 'dispatched' AND j.models IS NOT NULL
      ), instead AS (
        SELECT j.id, j.attempt + 1 AS attempt, j.traceparent, j.models FROM in_flight j, offered
        WHERE ${message.passed ?? 0} < (SELECT count(*) FROM member)
          AND j.delivery = 'dispatched' AND j.models <@ ${held}::text[] AND j.id <> offered.id
          AND j.status IN ('queued', 'running') AND j.deadline_at > now()
        ORDER BY NOT (j.models <@ ${[...warm]}::text[]), j.dispatched_at, j.id LIMIT 1
      )
      SELECT instead.*, EXISTS (
        SELECT FROM offered CROSS JOIN member LEFT JOIN busy ON busy.worker_id = member.id
        WHERE offered.dispatched_at > now() - make_interval(secs => ${LEFT_FOR_SECONDS})
          AND member.id <> ${workerId}::uuid AND offered.models <@ ${holds}
          AND member.capacity > coalesce(busy.attempts, 0)
      ) AS has_warm_worker
      FROM (SELECT) one LEFT JOIN instead ON true`;
  }
}

function isJob(row: Partial<DispatchedRow>): row is DispatchedRow {
  return typeof row.id === 'string';
}
