import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
const HOUR_MS = 3_600_000;
/** A usage record has the time at which the transaction of its job's end began, which has committed after so many minutes. */
const SETTLED_MINUTES = 10;
const hourOf = (time: Prisma.Sql): Prisma.Sql => Prisma.sql`floor(extract(epoch FROM ${time}) / 3600)::int`;

/** An account whose balance has changed in the hour that it is now, or in the one before it, with what there is to be looked at. */
export interface ActiveAccount {
  accountId: string;
  /** The hour that it is now: hours since 1970, UTC. */
  hour: number;
  /** The balance has changed in this hour. */
  isActive: boolean;
  /** The hour before was noted. */
  isEndedNoted: boolean;
  /** Nothing more is charged in the hour before. */
  isEndedSettled: boolean;
}

/** What an account was charged in one hour. */
export interface HourlySpend {
  /** Hours since 1970, UTC. */
  hour: number;
  chargedMicros: bigint;
}

/** A stretch of the past, and the hours of it in which something was recorded. */
interface PastSpend {
  /** Everything before it was read. */
  readUntil: Date;
  hours: HourlySpend[];
}

/** An account that has spent unusually much. */
export interface SpendAnomaly {
  accountId: string;
  /** When the hour began, as `yyyy-mm-ddThh:mm:ssZ`. */
  hour: string;
  chargedMicros: bigint;
  usualMicros: bigint;
}

/** The SQL of unusual spend. */
export class SpendAnomalyStore {
  /** @param at the time that is taken for now; null: PostgreSQL's. */
  constructor(private readonly at: Date | null = null) {}

  /**
   * Accounts whose balance has changed in the hour that it is now or in the one before, and of which the hour that it is now was not noted yet, in the
   * order of their ids.
   */
  async listActive(statements: Statements, after: string | null, limit: number): Promise<ActiveAccount[]> {
    return statements.rows(Prisma.sql`
      SELECT b.account_id, ${hourOf(Prisma.sql`h.now`)} AS hour, b.updated_at >= h.this AS is_active,
        b.anomaly_hour IS NOT NULL AND b.anomaly_hour >= h.ended AS is_ended_noted,
        h.now >= h.this + make_interval(mins => ${SETTLED_MINUTES}::int) AS is_ended_settled
      FROM (
        SELECT n.now, date_trunc('hour', n.now, 'UTC') AS this, date_trunc('hour', n.now, 'UTC') - interval '1 hour' AS ended
        FROM (SELECT coalesce(${this.at}::timestamptz, now()) AS now) n
      ) h
      JOIN balances b ON b.account_id > ${after ?? BEFORE_ALL}::uuid AND b.updated_at >= h.ended
        AND (b.anomaly_hour IS NULL OR b.anomaly_hour < h.this)
      ORDER BY b.account_id LIMIT ${limit}`);
  }

  /** What an account was charged in an hour, in micro-credits. @param hour since 1970, UTC */
  async spentIn(statements: Statements, accountId: string, hour: number): Promise<bigint> {
    const [from, to] = [new Date(hour * HOUR_MS), new Date((hour + 1) * HOUR_MS)];
    const [row] = await statements.rows<{ micros: bigint }>(Prisma.sql`
      SELECT coalesce(sum(u.charged_micros), 0)::bigint AS micros FROM usage_records u
      WHERE u.account_id = ${accountId}::uuid AND u.finished_at >= ${from}::timestamptz AND u.finished_at < ${to}::timestamptz`);
    if (row === undefined) throw new Error('a sum over nothing is a row');
    return row.micros;
  }

  /** What an account was charged in [from, to) by the hour: as far as so many records go, apart from those of the last moment among them. */
  async past(
    statements: Statements,
    accountId: string,
    { from, to }: { from: Date; to: Date },
    limit: number,
  ): Promise<PastSpend> {
    const rows = await statements.rows<{
      readUntil: Date;
      hour: number | null;
      chargedMicros: bigint | null;
    }>(Prisma.sql`
      WITH stretch AS MATERIALIZED (
        SELECT u.finished_at, u.charged_micros FROM usage_records u
        WHERE u.account_id = ${accountId}::uuid AND u.finished_at >= ${from}::timestamptz AND u.finished_at < ${to}::timestamptz
        ORDER BY u.finished_at LIMIT ${limit}
      ), reach AS (
        SELECT CASE WHEN count(*) < ${limit} THEN ${to}::timestamptz ELSE max(finished_at) END AS read_until FROM stretch
      )
      SELECT r.read_until, ${hourOf(Prisma.sql`s.finished_at`)} AS hour, sum(s.charged_micros)::bigint AS charged_micros
      FROM reach r LEFT JOIN stretch s ON s.finished_at < r.read_until GROUP BY 1, 2`);
    const hours = rows.flatMap(({ hour, chargedMicros }) =>
      hour === null || chargedMicros === null ? [] : [{ hour, chargedMicros }],
    );
    return { readUntil: rows[0]?.readUntil ?? from, hours };
  }

  /**
   * Note one of them, and record `spend.anomaly` for its webhook endpoints. Both are one statement, guarded by the hour of the last note: an
   * account has one event an hour at most, however many processes look.
   *
   * @returns whether it was noted, and not by another one before.
   */
  async note(statements: Statements, { accountId, hour, chargedMicros, usualMicros }: SpendAnomaly): Promise<boolean> {
    const noted = await statements.rows(Prisma.sql`
      WITH noted AS (
        UPDATE balances b SET anomaly_hour = ${hour}::timestamptz
        WHERE b.account_id = ${accountId}::uuid AND (b.anomaly_hour IS NULL OR b.anomaly_hour < ${hour}::timestamptz) RETURNING b.account_id
      )
      SELECT record_webhook_event(n.account_id, 'spend.anomaly', jsonb_build_object(
        'hour', ${hour}::text, 'charged_micros', ${chargedMicros}::bigint, 'usual_micros', ${usualMicros}::bigint)) AS recorded
      FROM noted n`);
    return noted.length > 0;
  }
}
