import { Prisma } from '@prisma/client';
import { relaxedCommit, statementPart, type StatementPart, type Statements } from '@millrace/database';

/** What one turn of an account of weight 1 adds to its pass; an account of weight w pays a w-th of it. */
export const STRIDE = 1_000_000;

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
  /** The lowest pass of the accounts that can have a turn; with none of them virtual time, where the next to come joins. */
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
  /** Null where nobody was looked for: the lane was full, or another process was dispatching. */
  found: Watermarks | null;
  /** The account whose turn it is was locked by another statement: another had its turn, or none. Its pass stays. */
  skipped: boolean;
}

/** How many turns are taken, from where they read, and whether they wait. */
export interface TurnTerms {
  /** Turns at most. */
  most: number;
  /** Of an earlier turn, to read from there on; null: from the start. */
  watermarks: Watermarks | null;
  /** How long to wait for the account whose turn it is while another statement has it locked; 0: skip it. */
  waitMs: number;
  /** How long to wait for another process that dispatches for the pool; 0: not at all. */
  poolWaitMs: number;
}

/** Turns that a statement may give beside its own work. */
export interface TurnOffer extends Pick<TurnTerms, 'most' | 'watermarks'> {
  /** Attempts of the pool that may be in flight. */
  room: number;
}

/** The terms of one turn that reads everything and waits for nobody. */
export const ONE_TURN: TurnTerms = { most: 1, watermarks: null, waitMs: 0, poolWaitMs: 0 };

/** A job on its way to the lane, as the statements of dispatching read it. */
export interface DispatchedRow {
  id: string;
  attempt: number;
  traceparent: string | null;
  models: string[] | null;
}

/** A turn, as a statement returns it. */
export interface TurnRow extends Omit<DispatchedRow, 'id'> {
  dispatchedId: string | null;
  inFlight: number | null;
  pass: bigint | null;
  skipped: boolean;
  inFlightSince: Date;
}

/** The SQL of turns. */
export class TurnStore {
  /**
   * Give turns, one after the other, each to the account with the lowest pass (stride scheduling): its first waiting job, by
   * priority, then age, moves towards the lane. One statement and one commit, and the turns are those that as many statements
   * of one turn each would give.
   *
   * Nothing happens while another process dispatches for this pool, for longer than `poolWaitMs`, or when `room` attempts are in flight already.
   *
   * An account that another statement has locked, because it submits or ends a job at this moment, is skipped, or waited for
   * no longer than `waitMs`: the whole pool would wait with it.
   *
   * Its commit does not wait for the disk: the claim that a turn leads to does, and so has the turn on the disk before it. Where a crash undoes a turn, its
   * message finds nothing to claim, and the job has another.
   *
   * @returns the turns in order, one at least. The last one says why there were no more: it has no job, or filled the room, or
   * was the last that was asked for.
   * @throws an error with SQLSTATE 55P03 (see `isLockTimeout`) when an account was waited for in vain: no turn was given.
   */
  async take(statements: Statements, poolId: string, room: number, terms: TurnTerms): Promise<[Turn, ...Turn[]]> {
    const { most, waitMs, watermarks, poolWaitMs } = terms;
    const pool =
      poolWaitMs === 0
        ? Prisma.sql`(SELECT ${poolId}::text)`
        : Prisma.sql`await_dispatch(${poolId}, ${poolWaitMs}::int)`;
    const [first, ...others] = await statements.rows<TurnRow>(Prisma.sql`
      SELECT turn.id AS dispatched_id, turn.* FROM ${relaxedCommit}, ${pool} AS asked (pool), LATERAL dispatch_turns(asked.pool, ${room}::int, ${most}::int, ${STRIDE}::bigint,
        ${watermarks?.pass ?? null}::bigint, ${watermarks?.inFlightSince ?? null}::timestamptz, ${waitMs}::int) AS turn`);
    if (first === undefined) throw new Error('the statement of a turn returned no row');
    return [turnOf(first), ...others.map(turnOf)];
  }
}

/**
 * Turns of a pool, as `TurnStore.take` gives them, in a statement that has more to do and commits with it. Yields a row for each turn, in order;
 * `turnOf` reads it.
 *
 * @param after a part that must have yielded its row first: what it wrote is seen by the turns.
 */
export function turnsPart(
  poolId: string,
  { room, most, watermarks }: TurnOffer,
  after: StatementPart<'id'>,
): StatementPart<'dispatched_id'> {
  return statementPart<'dispatched_id'>('turn')`
    SELECT turn.id AS dispatched_id, turn.attempt, turn.traceparent, turn.models, turn.pass, turn.in_flight, turn.in_flight_since, turn.skipped
    FROM ${after} first, LATERAL dispatch_turns(CASE WHEN first.id IS NOT NULL THEN ${poolId} END, ${room}::int, ${most}::int,
      ${STRIDE}::bigint, ${watermarks?.pass ?? null}::bigint, ${watermarks?.inFlightSince ?? null}::timestamptz, 0) AS turn`;
}

/** The turn that a row of `turnsPart` shows. */
export function turnOf({ dispatchedId: id, inFlight, pass, inFlightSince, skipped, ...job }: TurnRow): Turn {
  const found = pass === null ? null : { pass, inFlightSince };
  return { job: id === null ? null : dispatchedOf({ ...job, id }), inFlight, found, skipped };
}

export function dispatchedOf({ id, attempt, traceparent, models }: DispatchedRow): DispatchedJob {
  return {
    jobId: id,
    attempt,
    ...(traceparent === null ? {} : { traceparent }),
    ...(models === null ? {} : { models }),
  };
}
