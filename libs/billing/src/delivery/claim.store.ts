import { Prisma } from '@prisma/client';
import { composeStatement, statementPart, type Statements } from '@millrace/database';
import { firstIncompleteDay } from '../exports';
import type { FileFacts } from './delivery';
import { FAILING_LIMIT_SECONDS } from './retry-schedule';

/** Destinations that get their days in one statement. */
const PLANNED_AT_ONCE = 500;

/** What this process may write now, until its lease ends. */
export interface ClaimedDelivery {
  id: string;
  accountId: string;
  /** `yyyy-mm-dd`; null: a test. */
  day: string | null;
  /** Names the attempt: its result counts while no later one has begun. */
  attempt: number;
  /** Attempts since it was made or last asked for, this one included. */
  tries: number;
  /** Of the destination: a result counts while it is the same. */
  revision: number;
  /** Null: the service's own bucket. */
  bucket: string | null;
  region: string | null;
  endpoint: string | null;
  accessKeyId: string | null;
  sealedSecret: Buffer | null;
  prefix: string;
}

/** Destinations that fail or are slow have places of their own, so that they delay no others. */
export type Lane = 'quick' | 'slow';

/** How much may be claimed. */
export interface ClaimRoom {
  lane: Lane;
  /** Deliveries, each of another account. */
  limit: number;
  /** Accounts whose destinations are slow; those that fail are known to the database. */
  slow: readonly string[];
  /** Accounts for which this process writes something already. */
  taken: readonly string[];
  /** Accounts before it had their turn; null: all of them are to come. */
  after: string | null;
}

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** What came of an attempt. Files are null of a test. */
export type WriteOutcome =
  | { kind: 'delivered'; location: string; files: { usage: FileFacts; ledger: FileFacts } | null }
  /** The next attempt comes after the pause. */
  | { kind: 'failed'; error: string; pauseSeconds: number };

/**
 * Make a delivery of each day that is complete, for each account that has a destination. A day that has one already is left as it is, unless it was
 * given up with the destination before: it is written to this one. The attempt at that one that may be under way does not count.
 *
 * @param at the time by which days are complete; null: PostgreSQL's.
 * @returns how many destinations had days to come.
 */
export async function planDeliveries(statements: Statements, at: Date | null): Promise<number> {
  const [row] = await statements.rows<{ count: number }>(Prisma.sql`
    WITH complete AS (
      SELECT ${firstIncompleteDay(at)} AS until
    ), behind AS (
      SELECT account_id, next_day FROM export_destinations
      WHERE disabled_at IS NULL AND next_day < (SELECT until FROM complete) ORDER BY next_day LIMIT ${PLANNED_AT_ONCE} FOR UPDATE SKIP LOCKED
    ), moved AS (
      UPDATE export_destinations d SET next_day = c.until FROM behind, complete c WHERE d.account_id = behind.account_id
    ), made AS (
      INSERT INTO export_deliveries AS v (account_id, day)
      SELECT behind.account_id, day::date FROM behind CROSS JOIN complete c
      CROSS JOIN generate_series(behind.next_day::timestamp, c.until - interval '1 day', interval '1 day') AS day
      ON CONFLICT (account_id, day) DO UPDATE
      SET state = 'pending', attempt = v.attempt + 1, tries = 0, due_at = DEFAULT, ended_at = NULL WHERE v.state = 'failed'
    )
    SELECT count(*)::int AS count FROM behind`);
  return row?.count ?? 0;
}

/**
 * Take deliveries that are due, one of each account, accounts in the order of their ids: however much one of them waits for, the next has
 * its turn. A claim moves the time at which one is due behind the end of its lease: no other process takes it meanwhile, and if this one
 * dies, it is due again by itself.
 *
 * @param leaseSeconds longer than an attempt can take.
 */
export async function claimDeliveries(
  statements: Statements,
  room: ClaimRoom,
  leaseSeconds: number,
): Promise<ClaimedDelivery[]> {
  return room.limit <= 0 ? [] : statements.rows(claimSql(room, leaseSeconds));
}

/** The statement of `claimDeliveries`, whose plan a test checks: it visits each account that waits for anything once. */
export function claimSql({ lane, limit, slow, taken, after }: ClaimRoom, leaseSeconds: number): Prisma.Sql {
  return Prisma.sql`
    WITH RECURSIVE waiting (account_id) AS (
      (SELECT v.account_id FROM export_deliveries v
       WHERE v.state = 'pending' AND v.account_id > ${after ?? BEFORE_ALL}::uuid ORDER BY v.account_id LIMIT 1)
      UNION ALL
      SELECT (SELECT v.account_id FROM export_deliveries v
              WHERE v.state = 'pending' AND v.account_id > waiting.account_id ORDER BY v.account_id LIMIT 1)
      FROM waiting WHERE waiting.account_id IS NOT NULL
    ), due AS MATERIALIZED (
      SELECT v.id, d.account_id, d.revision, d.bucket, d.region, d.endpoint, d.access_key_id, d.sealed_secret, d.prefix FROM waiting
      JOIN export_destinations d ON d.account_id = waiting.account_id AND d.account_id <> ALL (${taken}::uuid[])
        AND (d.failing_since IS NOT NULL OR d.account_id = ANY (${slow}::uuid[])) = ${lane === 'slow'}
      CROSS JOIN LATERAL (
        SELECT v.id FROM export_deliveries v
        WHERE v.account_id = waiting.account_id AND v.state = 'pending' AND v.due_at <= now() AND (d.disabled_at IS NULL OR v.day IS NULL)
        ORDER BY v.due_at, v.id LIMIT 1 FOR UPDATE SKIP LOCKED
      ) v LIMIT ${limit}
    )
    UPDATE export_deliveries v
    SET attempt = v.attempt + 1, tries = v.tries + 1, due_at = now() + make_interval(secs => ${leaseSeconds})
    FROM due WHERE v.id = due.id AND v.state = 'pending' AND v.due_at <= now()
    RETURNING v.id, due.account_id, to_char(v.day, 'YYYY-MM-DD') AS day, v.attempt, v.tries, due.revision, due.bucket, due.region,
      due.endpoint, due.access_key_id, due.sealed_secret, due.prefix`;
}

/**
 * Record what came of an attempt, with what follows from it for its delivery and its destination: one statement.
 *
 * @returns false when another attempt has begun since, or the destination was changed: nothing is recorded then, and it is written again.
 */
export async function recordWrite(
  statements: Statements,
  { id, accountId, day, attempt, revision }: Pick<ClaimedDelivery, 'id' | 'accountId' | 'day' | 'attempt' | 'revision'>,
  outcome: WriteOutcome,
  durationMs: number,
): Promise<boolean> {
  const delivered = outcome.kind === 'delivered';
  const files = delivered ? outcome.files : null;
  const pause = delivered ? 0 : outcome.pauseSeconds;
  // A test is tried once: its owner waits for what it says.
  const state = delivered ? 'delivered' : day === null ? 'failed' : 'pending';
  const delivery = statementPart<'id' | 'account_id'>('delivery')`
    UPDATE export_deliveries v
    SET state = ${state}, ended_at = CASE WHEN ${state} <> 'pending' THEN now() END, due_at = now() + make_interval(secs => ${pause}),
        location = coalesce(${delivered ? outcome.location : null}, v.location),
        usage_rows = coalesce(${files?.usage.rows ?? null}::bigint, v.usage_rows),
        usage_micros = coalesce(${files?.usage.chargedMicros ?? null}::bigint, v.usage_micros),
        ledger_rows = coalesce(${files?.ledger.rows ?? null}::bigint, v.ledger_rows),
        ledger_micros = coalesce(${files?.ledger.chargedMicros ?? null}::bigint, v.ledger_micros),
        usage_sha256 = coalesce(${files?.usage.sha256 ?? null}::bytea, v.usage_sha256),
        ledger_sha256 = coalesce(${files?.ledger.sha256 ?? null}::bytea, v.ledger_sha256)
    FROM export_destinations d
    WHERE v.id = ${id}::uuid AND v.attempt = ${attempt} AND v.state = 'pending'
      AND d.account_id = ${accountId}::uuid AND d.account_id = v.account_id AND d.revision = ${revision}
    RETURNING v.id, v.account_id`;
  const log = statementPart('log')`
    INSERT INTO export_attempts (delivery_id, attempt, error, duration_ms)
    SELECT id, ${attempt}, ${delivered ? null : outcome.error}, ${durationMs} FROM ${delivery}`;
  const destination = statementPart('destination')`
    UPDATE export_destinations d SET ${delivered ? succeeds : fails} FROM ${delivery} delivery
    WHERE d.account_id = delivery.account_id AND d.disabled_at IS NULL AND ${delivered ? hasFailed : countsFailure(day)}`;
  const rows = await statements.rows(composeStatement([log, destination])`SELECT id FROM ${delivery}`);
  return rows.length > 0;
}

const failsTooLong = Prisma.sql`coalesce(d.failing_since < now() - make_interval(secs => ${FAILING_LIMIT_SECONDS}), false)`;
const succeeds = Prisma.sql`failing_since = NULL`;
const hasFailed = Prisma.sql`d.failing_since IS NOT NULL`;
const fails = Prisma.sql`
  failing_since = coalesce(d.failing_since, now()), disabled_at = CASE WHEN ${failsTooLong} THEN now() END,
  disabled_reason = CASE WHEN ${failsTooLong} THEN 'failing' END`;
/** A test that fails says so to who asked for it, and nothing of the days. */
const countsFailure = (day: string | null): Prisma.Sql => Prisma.sql`${day}::text IS NOT NULL`;
