import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
const thisHour = Prisma.sql`date_trunc('hour', now(), 'UTC')`;
const hourOf = (time: Prisma.Sql): Prisma.Sql => Prisma.sql`floor(extract(epoch FROM ${time}) / 3600)::int`;

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
  /** Accounts whose balance has changed in the hour that it is now, and of which it was not noted yet, in the order of their ids. */
  async listActive(statements: Statements, after: string | null, limit: number): Promise<string[]> {
    const rows = await statements.rows<{ accountId: string }>(Prisma.sql`
      SELECT b.account_id FROM balances b
      WHERE b.account_id > ${after ?? BEFORE_ALL}::uuid AND b.updated_at >= ${thisHour}
        AND (b.anomaly_hour IS NULL OR b.anomaly_hour < ${thisHour})
      ORDER BY b.account_id LIMIT ${limit}`);
    return rows.map(({ accountId }) => accountId);
  }

  /** What an account was charged in the hour that it is now. */
  async spentNow(statements: Statements, accountId: string): Promise<HourlySpend> {
    const [row] = await statements.rows<HourlySpend>(Prisma.sql`
      SELECT ${hourOf(thisHour)} AS hour, coalesce(sum(u.charged_micros), 0)::bigint AS charged_micros
      FROM usage_records u WHERE u.account_id = ${accountId}::uuid AND u.finished_at >= ${thisHour}`);
    if (row === undefined) throw new Error('a sum over nothing is a row');
    return row;
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
