import { Prisma } from '@prisma/client';
import type { DispatchMessage } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { seenLately } from '@millrace/deployments';
import { dispatchedOf, type DispatchedJob, type DispatchedRow } from '../rotation';

/** How long an attempt is left to an idle worker that holds its models at most, from its dispatch on. */
export const LEFT_FOR_SECONDS = 2;

/** A worker that was offered an attempt whose models it does not hold. */
export interface ColdOffer {
  poolId: string;
  workerId: string;
  /** Files of weights that the worker holds in memory. */
  warm: readonly string[];
  /** Files of weights that are on its disk. */
  disk: readonly string[];
  /** Models of the offered attempt that it would have to fetch; none where it has only to load them. */
  lacking: readonly string[];
  /** How long an attempt waits for a worker that has its models at most, in seconds from its dispatch on. */
  waitSeconds: number;
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
   * Another worker that holds the models of the offered attempt in memory, or has them on its disk where this one has not: one
   * that has nothing to do, or, where this one would have to fetch them, one that is busy, or fetches them at this moment.
   */
  holder: 'idle' | 'busy' | null;
}

interface ChoiceRow extends Partial<DispatchedRow> {
  hasIdleHolder: boolean;
  hasBusyHolder: boolean;
}

/** The SQL that finds the best match of workers and attempts. It only reads: what it finds is claimed like anything else. */
export class WarmClaimStore {
  /**
   * Look for a better match among what fairness has already chosen: the attempts in the pool's lane, a few more than its
   * workers can run. The offered attempt is passed over for another as often as the pool has workers at most, so that it
   * waits for one job of each; and is left to an idle worker for a moment only, in case that one does not take it.
   *
   * What has to be fetched waits longer, for a busy worker that has it (delay scheduling: Zaharia et al., _Delay Scheduling: A
   * Simple Technique for Achieving Locality and Fairness in Cluster Scheduling_, 2010), unless the attempts of that one take so long
   * that it is unlikely to be free in time.
   */
  async choose(statements: Statements, offer: ColdOffer): Promise<WarmChoice> {
    const [row] = await statements.rows<ChoiceRow>(this.chooseSql(offer));
    const holder = row?.hasIdleHolder ? 'idle' : row?.hasBusyHolder ? 'busy' : null;
    return { instead: row && isJob(row) ? dispatchedOf(row) : null, holder };
  }

  /** The statement of `choose`, whose plan a test checks: it passes once over the pool's workers and over what is in flight. */
  chooseSql({ poolId, workerId, warm, disk, lacking, waitSeconds, message }: ColdOffer): Prisma.Sql {
    const mustFetch = lacking.length > 0;
    const held = mustFetch ? [...new Set([...warm, ...disk])] : [...warm];
    const holds = mustFetch
      ? Prisma.sql`(member.resident_models || member.disk_models)`
      : Prisma.sql`member.resident_models`;
    return Prisma.sql`
      WITH member AS MATERIALIZED (
        SELECT w.id, w.capacity, w.resident_models, w.disk_models, w.attempt_ms FROM workers w
        WHERE w.pool_id = ${poolId} AND w.state = 'ready'
          AND ${seenLately(Prisma.sql`w`)}
      ), in_flight AS MATERIALIZED (
        SELECT j.id, j.attempt, j.delivery, j.worker_id, j.status, j.deadline_at, j.dispatched_at, j.traceparent, j.models
        FROM jobs j WHERE j.pool_id = ${poolId} AND j.delivery IN ('dispatched', 'leased') AND j.dispatched_at IS NOT NULL
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
        WHERE offered.dispatched_at > now() - make_interval(secs => ${Math.min(LEFT_FOR_SECONDS, waitSeconds)})
          AND member.id <> ${workerId}::uuid AND offered.models <@ ${holds}
          AND member.capacity > coalesce(busy.attempts, 0)
      ) AS has_idle_holder, ${mustFetch ? busyHolder(workerId, lacking, waitSeconds) : Prisma.sql`false`} AS has_busy_holder
      FROM (SELECT) one LEFT JOIN instead ON true`;
  }
}

/** A run that takes this many times the bound is unlikely to be over within it, wherever in it the worker is. */
const RUNS_OF_THE_WAIT = 2;

/** Whether a worker that is likely to be free in time has what this one lacks, or runs an attempt that needs it. */
function busyHolder(workerId: string, lacking: readonly string[], waitSeconds: number): Prisma.Sql {
  const names = Prisma.sql`${[...lacking]}::text[]`;
  return Prisma.sql`EXISTS (
        SELECT FROM offered WHERE offered.dispatched_at > now() - make_interval(secs => ${waitSeconds})
      ) AND EXISTS (
        SELECT FROM member WHERE member.id <> ${workerId}::uuid
          AND coalesce(member.attempt_ms, 0) <= ${RUNS_OF_THE_WAIT * waitSeconds * 1_000}
          AND (${names} <@ (member.resident_models || member.disk_models) OR member.id IN (
            SELECT j.worker_id FROM in_flight j WHERE j.delivery = 'leased' AND ${names} <@ j.models))
      )`;
}

function isJob(row: Partial<DispatchedRow>): row is DispatchedRow {
  return typeof row.id === 'string';
}
