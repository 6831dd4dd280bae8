import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

/** One turn of an account of weight 1 in the rotation; an account of weight w waits a w-th of it. */
const STRIDE = 1_000_000;

export interface DispatchedJob {
  jobId: string;
  /** Number of the attempt that waits to be claimed. */
  attempt: number;
  traceparent?: string;
  /** Files of weights that the job loads; absent where there are none. */
  models?: string[];
}

/** An account's share in a pool's rotation, while it has jobs waiting. */
export interface BusyAccount {
  accountId: string;
  waiting: number;
  weight: number;
}

export interface DispatchedRow {
  id: string;
  attempt: number;
  traceparent: string | null;
  models: string[] | null;
}

/** The SQL that chooses whose job is next. */
export class DispatchStore {
  /**
   * Move the next waiting job of a pool towards its lane: of the account whose turn it is (stride scheduling: Waldspurger
   * and Weihl, 1995), the first by priority, then age. Reads one row of each of three indexes, however many jobs wait.
   *
   * Nothing happens while another process dispatches for this pool, or when `room` attempts are in flight already.
   */
  async dispatchNext(statements: Statements, poolId: string, room: number): Promise<DispatchedJob | null> {
    const [row] = await statements.query<DispatchedRow>(this.nextSql(poolId, room));
    return row === undefined ? null : dispatchedOf(row);
  }

  /** The statement of `dispatchNext`; a test holds its plan to what is said there. */
  nextSql(poolId: string, room: number): Prisma.Sql {
    return Prisma.sql`
      WITH gate AS MATERIALIZED (
        SELECT CASE WHEN pg_try_advisory_xact_lock(hashtextextended('dispatch:' || ${poolId}, 0))
          THEN in_flight_of(${poolId}) END AS in_flight
      ), turn AS (
        SELECT q.account_id, q.pass FROM account_queues q
        WHERE q.pool_id = ${poolId} AND q.eligible AND (SELECT in_flight FROM gate) < ${room}
        ORDER BY q.pass, q.account_id LIMIT 1 FOR UPDATE
      ), next AS (
        SELECT j.id FROM jobs j
        WHERE j.pool_id = ${poolId} AND j.account_id = (SELECT account_id FROM turn) AND j.delivery = 'waiting'
        ORDER BY j.priority DESC, j.id LIMIT 1 FOR UPDATE OF j SKIP LOCKED
      ), job AS (
        UPDATE jobs j SET delivery = 'dispatched', dispatched_at = now(), updated_at = now()
        FROM next WHERE j.id = next.id
        RETURNING j.id, j.account_id, j.attempt, j.traceparent, j.models
      ), queue AS (
        UPDATE account_queues q SET waiting = q.waiting - 1, in_flight = q.in_flight + 1, pass = q.pass + ${STRIDE} / q.weight
        FROM job WHERE q.pool_id = ${poolId} AND q.account_id = job.account_id
      ), time AS (
        UPDATE pools p SET virtual_time = turn.pass FROM turn, job WHERE p.id = ${poolId} AND p.virtual_time < turn.pass
      )
      SELECT id, attempt + 1 AS attempt, traceparent, models FROM job`;
  }

  /** Attempts that went to the lane more than `olderThanSeconds` ago and were not claimed: the lane may have lost them. */
  async listUnclaimed(statements: Statements, poolId: string, olderThanSeconds: number): Promise<DispatchedJob[]> {
    const rows = await statements.query<DispatchedRow>(Prisma.sql`
      SELECT id, attempt + 1 AS attempt, traceparent, models FROM jobs
      WHERE pool_id = ${poolId} AND delivery IN ('dispatched', 'leased') AND delivery = 'dispatched'
        AND dispatched_at < now() - make_interval(secs => ${olderThanSeconds})
      ORDER BY dispatched_at`);
    return rows.map(dispatchedOf);
  }

  /** The accounts with jobs waiting in a pool. */
  async listBusy(statements: Statements, poolId: string): Promise<BusyAccount[]> {
    const rows = await statements.query<{ account_id: string; waiting: number; weight: number }>(Prisma.sql`
      SELECT account_id, waiting, weight FROM account_queues WHERE pool_id = ${poolId} AND waiting > 0`);
    return rows.map((row) => ({ accountId: row.account_id, waiting: row.waiting, weight: row.weight }));
  }
}

export function dispatchedOf({ id, attempt, traceparent, models }: DispatchedRow): DispatchedJob {
  return {
    jobId: id,
    attempt,
    ...(traceparent === null ? {} : { traceparent }),
    ...(models === null ? {} : { models }),
  };
}
