import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

/** What makes the spend of an hour unusual. */
export interface AnomalyTerms {
  /** So many times as much as in the usual hour. */
  factor: number;
  /** The usual hour is the median of the hours in which something was charged, of so many days. */
  days: number;
  /** An hour that costs less than this is never unusual, in micro-credits. */
  floorMicros: number;
}

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
const thisHour = Prisma.sql`date_trunc('hour', now(), 'UTC')`;

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
  /** Accounts that have spent unusually much in the hour that it is now, which was not noted of them yet, in the order of their ids. */
  async list(
    statements: Statements,
    { factor, days, floorMicros }: AnomalyTerms,
    after: string | null,
    limit: number,
  ): Promise<SpendAnomaly[]> {
    return statements.rows(Prisma.sql`
      WITH spent AS MATERIALIZED (
        SELECT b.account_id, h.micros FROM balances b
        CROSS JOIN LATERAL (
          SELECT coalesce(sum(u.charged_micros), 0)::bigint AS micros FROM usage_records u
          WHERE u.account_id = b.account_id AND u.finished_at >= ${thisHour}) h
        WHERE b.account_id > ${after ?? BEFORE_ALL}::uuid AND b.updated_at >= ${thisHour}
          AND (b.anomaly_hour IS NULL OR b.anomaly_hour < ${thisHour}) AND h.micros >= ${floorMicros}::bigint
      )
      SELECT s.account_id, to_char(${thisHour} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS hour,
        s.micros AS charged_micros, usual.micros AS usual_micros
      FROM spent s CROSS JOIN LATERAL (
        SELECT coalesce(percentile_disc(0.5) WITHIN GROUP (ORDER BY past.micros), 0)::bigint AS micros FROM (
          SELECT sum(u.charged_micros) AS micros FROM usage_records u
          WHERE u.account_id = s.account_id AND u.finished_at >= ${thisHour} - make_interval(days => ${days}) AND u.finished_at < ${thisHour}
            AND u.charged_micros > 0
          GROUP BY date_trunc('hour', u.finished_at)) past) usual
      WHERE usual.micros > 0 AND s.micros >= usual.micros * ${factor} ORDER BY s.account_id LIMIT ${limit}`);
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
