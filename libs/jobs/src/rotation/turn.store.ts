import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

/** What one turn of an account of weight 1 adds to its pass; an account of weight w pays a w-th of it. */
const STRIDE = 1_000_000;

export interface DispatchedJob {
  jobId: string;
  /** Number of the attempt that waits to be claimed. */
  attempt: number;
  traceparent?: string;
  /** Files of weights that the job loads; absent where there are none. */
  models?: string[];
}

/** Where the live part of a pool's rotation and lane begins: a later turn need not read what is before it. */
export interface Watermarks {
  /** The lowest pass of the accounts that can have a turn. */
  pass: bigint;
  /** When the oldest of the attempts in flight was dispatched. */
  inFlightSince: Date;
}

/** What a turn came to, and what its statement read. */
export interface Turn {
  /** Null where no account can have a turn, or the lane is full. */
  job: DispatchedJob | null;
  /** Attempts of the pool in flight before it; null where another process was dispatching for the pool. */
  inFlight: number | null;
  /** Null where no account could have a turn. */
  found: Watermarks | null;
  /** The account whose turn it is was locked by another statement: another had its turn, or none. Its pass stays. */
  skipped: boolean;
}

/** From where a turn reads, and whether it waits. */
export interface TurnTerms {
  /** Of an earlier turn, to read from there on; null: from the start. */
  watermarks: Watermarks | null;
  /** How long to wait for the account whose turn it is while another statement has it locked; 0: skip it. */
  waitMs: number;
}

/** The terms of a turn that reads everything and waits for nobody. */
export const FIRST_TURN: TurnTerms = { watermarks: null, waitMs: 0 };

/** A job on its way to the lane, as the statements of dispatching read it. */
export interface DispatchedRow {
  id: string;
  attempt: number;
  traceparent: string | null;
  models: string[] | null;
}

interface TurnRow extends Omit<DispatchedRow, 'id'> {
  id: string | null;
  inFlight: number | null;
  pass: bigint | null;
  skipped: boolean;
  inFlightSince: Date;
}

/** The SQL of turns. */
export class TurnStore {
  /**
   * Give a turn to the account with the lowest pass (stride scheduling): its first waiting job, by priority, then age, moves
   * towards the lane. Reads one row of each of three indexes, however many jobs wait.
   *
   * Nothing happens while another process dispatches for this pool, or when `room` attempts are in flight already.
   *
   * An account that another statement has locked, because it submits or ends a job at this moment, is skipped, or waited for
   * no longer than `waitMs`: the whole pool would wait with it.
   *
   * @throws an error with SQLSTATE 55P03 (see `isLockTimeout`) when it was waited for in vain.
   */
  async take(statements: Statements, poolId: string, room: number, terms: TurnTerms): Promise<Turn> {
    const [row] = await statements.rows<TurnRow>(this.takeSql(poolId, room, terms));
    if (row === undefined) throw new Error('the statement of a turn returned no row');
    const { id, inFlight, pass, inFlightSince, skipped } = row;
    const found = pass === null ? null : { pass, inFlightSince };
    return { job: id === null ? null : dispatchedOf({ ...row, id }), inFlight, found, skipped };
  }

  /** The statement of `take`, whose plan a test checks. An account behind the watermark has its turn when none is after it. */
  takeSql(poolId: string, room: number, { watermarks, waitMs }: TurnTerms = FIRST_TURN): Prisma.Sql {
    const inOrder = (condition: Prisma.Sql): Prisma.Sql => Prisma.sql`
      SELECT q.account_id, q.pass FROM account_queues q
      WHERE q.pool_id = ${poolId} AND q.eligible AND (SELECT in_flight FROM gate) < ${room} AND ${condition}
      ORDER BY q.pass, q.account_id LIMIT 1`;
    const turn = (condition: Prisma.Sql): Prisma.Sql =>
      Prisma.sql`${inOrder(condition)} FOR UPDATE ${waitMs === 0 ? Prisma.sql`SKIP LOCKED` : Prisma.empty}`;
    const lockTimeout = waitMs === 0 ? Prisma.empty : Prisma.sql`, set_config('lock_timeout', ${`${waitMs}ms`}, true)`;
    const from = watermarks === null ? Prisma.sql`true` : Prisma.sql`q.pass >= ${watermarks.pass}`;
    const turns =
      watermarks === null
        ? Prisma.sql`turn AS (${turn(from)})`
        : Prisma.sql`
          near AS (${turn(from)}),
          far AS (${turn(Prisma.sql`NOT EXISTS (SELECT FROM near)`)}),
          turn AS (SELECT * FROM near UNION ALL SELECT * FROM far)`;
    return Prisma.sql`
      WITH gate AS MATERIALIZED (
        SELECT in_flight, oldest ${lockTimeout} FROM dispatch_turn(${poolId}, ${watermarks?.inFlightSince ?? null}::timestamptz)
      ), first AS (${inOrder(from)}), ${turns}, next AS (
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
      SELECT job.id, job.attempt + 1 AS attempt, job.traceparent, job.models,
        least(turn.pass, (SELECT pass FROM first)) AS pass,
        gate.in_flight::int AS in_flight, coalesce(gate.oldest, now()) AS in_flight_since,
        coalesce((SELECT account_id FROM first) <> turn.account_id, EXISTS (SELECT FROM first)) AS skipped
      FROM gate LEFT JOIN turn ON true LEFT JOIN job ON true`;
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
