import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import type { DispatchMarks } from '../dispatch/watermark-cache';

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

/** What a statement of the dispatcher has done, and what it has read where it began. */
export interface Dispatch {
  job: DispatchedJob | null;
  /** Attempts of the pool in flight before it; null where another process was dispatching for the pool. */
  inFlight: number | null;
  /** Null where it found no account's turn. */
  found: DispatchMarks | null;
}

interface NextRow extends Omit<DispatchedRow, 'id'> {
  id: string | null;
  in_flight: number | null;
  pass: bigint | null;
  in_flight_since: Date;
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
    return (await this.dispatchFrom(statements, poolId, room, null)).job;
  }

  /** The same, reading from the marks of an earlier time; null: from the start. */
  async dispatchFrom(
    statements: Statements,
    poolId: string,
    room: number,
    marks: DispatchMarks | null,
  ): Promise<Dispatch> {
    const [row] = await statements.query<NextRow>(this.nextSql(poolId, room, marks));
    if (row === undefined) throw new Error('the statement of the dispatcher told nothing');
    const { id, in_flight: inFlight, pass, in_flight_since: inFlightSince } = row;
    const found = pass === null ? null : { pass, inFlightSince };
    return { job: id === null ? null : dispatchedOf({ ...row, id }), inFlight, found };
  }

  /**
   * The statement of `dispatchFrom`; a test holds its plan to what is said there. An account behind the mark has its turn
   * when there is none after it.
   */
  nextSql(poolId: string, room: number, marks: DispatchMarks | null = null): Prisma.Sql {
    const turn = (condition: Prisma.Sql): Prisma.Sql => Prisma.sql`
      SELECT q.account_id, q.pass FROM account_queues q
      WHERE q.pool_id = ${poolId} AND q.eligible AND (SELECT in_flight FROM gate) < ${room} AND ${condition}
      ORDER BY q.pass, q.account_id LIMIT 1 FOR UPDATE`;
    const turns =
      marks === null
        ? Prisma.sql`turn AS (${turn(Prisma.sql`true`)})`
        : Prisma.sql`
          near AS (${turn(Prisma.sql`q.pass >= ${marks.pass}`)}),
          far AS (${turn(Prisma.sql`NOT EXISTS (SELECT FROM near)`)}),
          turn AS (SELECT * FROM near UNION ALL SELECT * FROM far)`;
    return Prisma.sql`
      WITH gate AS MATERIALIZED (
        SELECT in_flight, oldest FROM dispatch_turn(${poolId}, ${marks?.inFlightSince ?? null}::timestamptz)
      ), ${turns}, next AS (
        SELECT j.id FROM jobs j
        WHERE j.pool_id = ${poolId} AND j.account_id = (SELECT account_id FROM turn) AND j.delivery = 'waiting'
        ORDER BY j.priority DESC, j.id LIMIT 1 FOR UPDATE OF j SKIP LOCKED
      ), job AS (
        UPDATE jobs j SET delivery = 'dispatched', dispatched_at = now(), updated_at = now()
        FROM next WHERE j.id = next.id
        RETURNING j.id, j.account_id, j.attempt, j.traceparent, j.models
      ), queue AS (
        UPDATE account_queues q SET waiting = q.waiting - 1, in_flight = q.in_flight + 1, pass = q.pass + ${STRIDE} / q.weight
        WHERE q.pool_id = ${poolId} AND q.account_id = (SELECT account_id FROM job)
      ), time AS (
        UPDATE pools p SET virtual_time = turn.pass FROM turn, job WHERE p.id = ${poolId} AND p.virtual_time < turn.pass
      )
      SELECT job.id, job.attempt + 1 AS attempt, job.traceparent, job.models, turn.pass,
        gate.in_flight::int AS in_flight, coalesce(gate.oldest, now()) AS in_flight_since
      FROM gate LEFT JOIN turn ON true LEFT JOIN job ON true`;
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
