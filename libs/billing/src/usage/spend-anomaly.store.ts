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

const hour = Prisma.sql`date_trunc('hour', now(), 'UTC')`;

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
  /**
   * Note which accounts have spent unusually much in the hour that it is now, and record `spend.anomaly` of each for its webhook endpoints.
   * The note and the event are one statement, guarded by the hour of the last note: an account has one event an hour at most, however many
   * processes look.
   *
   * @returns those that were noted.
   */
  async note(
    statements: Statements,
    { factor, days, floorMicros }: AnomalyTerms,
    limit: number,
  ): Promise<SpendAnomaly[]> {
    const noted = await statements.rows<SpendAnomaly & { recorded: number }>(Prisma.sql`
      WITH spent AS MATERIALIZED (
        SELECT b.account_id, h.micros FROM balances b
        CROSS JOIN LATERAL (
          SELECT coalesce(sum(u.charged_micros), 0)::bigint AS micros FROM usage_records u
          WHERE u.account_id = b.account_id AND u.finished_at >= ${hour}) h
        WHERE b.updated_at >= ${hour} AND (b.anomaly_hour IS NULL OR b.anomaly_hour < ${hour}) AND h.micros >= ${floorMicros}::bigint
      ), unusual AS (
        SELECT s.account_id, s.micros, usual.micros AS usual_micros FROM spent s
        CROSS JOIN LATERAL (
          SELECT coalesce(percentile_disc(0.5) WITHIN GROUP (ORDER BY past.micros), 0)::bigint AS micros FROM (
            SELECT sum(u.charged_micros) AS micros FROM usage_records u
            WHERE u.account_id = s.account_id AND u.finished_at >= ${hour} - make_interval(days => ${days}) AND u.finished_at < ${hour}
              AND u.charged_micros > 0
            GROUP BY date_trunc('hour', u.finished_at)) past) usual
        WHERE usual.micros > 0 AND s.micros >= usual.micros * ${factor} LIMIT ${limit}
      ), noted AS (
        UPDATE balances b SET anomaly_hour = ${hour} FROM unusual n
        WHERE b.account_id = n.account_id AND (b.anomaly_hour IS NULL OR b.anomaly_hour < ${hour})
        RETURNING b.account_id, n.micros, n.usual_micros
      )
      SELECT n.account_id, h.text AS hour, n.micros AS charged_micros, n.usual_micros,
        record_webhook_event(n.account_id, 'spend.anomaly', jsonb_build_object(
          'hour', h.text, 'charged_micros', n.micros, 'usual_micros', n.usual_micros)) AS recorded
      FROM noted n CROSS JOIN (SELECT to_char(${hour} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS text) h`);
    return noted.map(({ accountId, hour: at, chargedMicros, usualMicros }) => ({
      accountId,
      hour: at,
      chargedMicros,
      usualMicros,
    }));
  }
}
