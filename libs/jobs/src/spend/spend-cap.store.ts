import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import {
  KEY_LABEL,
  countedBy,
  dayMicros,
  inThisMonth,
  isCountedBy,
  isToday,
  lockUse,
  monthMicros,
  today,
  type Excess,
  type LabelRule,
  type RuleKey,
} from '../labels';
import type { JobScope } from '../state';
import { countedValues, type SummedUsage } from './summed-usage.store';

/** A rule that limits what is spent, with what is used of it. */
export interface SpendCap extends LabelRule {
  heldMicros: bigint;
  /** Charged today, and this month (UTC). */
  dayMicros: bigint;
  monthMicros: bigint;
  /** Whether it was used up today, and this month: jobs are refused and canceled. */
  dayStopped: boolean;
  monthStopped: boolean;
}

/** A job that is to be canceled. */
export interface SpentJob {
  id: string;
  accountId: string;
  surface: JobScope['surface'];
  deploymentId: string | null;
}

/** A cap by which jobs may have to be counted that have not been. */
export interface FreshCap extends RuleKey {
  id: string;
  accountId: string;
}

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
const isDayStopped = Prisma.sql`(r.daily_at_cap = 'stop' AND ${isToday('u.day_stopped_on')})`;
const isMonthStopped = Prisma.sql`
  (r.monthly_at_cap = 'stop' AND ${inThisMonth('u.month_stopped_on')})`;

/** Whether the cap `r` counts what several keys submit. */
const isOfLine = Prisma.sql`r.label = ${KEY_LABEL} AND EXISTS (
  SELECT FROM api_keys k WHERE k.account_id = r.account_id AND k.spend_keys IS NOT NULL
    AND (r.value IS NULL OR r.value = ANY(k.spend_keys::text[]) AND r.value <> k.id::text))`;
/** The day (UTC) on which the statement begins: after the locks that its transaction waited for. */
const countDay = Prisma.sql`(statement_timestamp() AT TIME ZONE 'UTC')::date`;

/** What was charged today, and this month, by each value of a cap, as `s`: what is summed, and the usage since. */
function chargedBy(accountId: string, cap: RuleKey, { until, sums }: SummedUsage): Prisma.Sql {
  const sumSince = (day: Prisma.Sql): Prisma.Sql =>
    Prisma.sql`coalesce(sum(c.micros) FILTER (WHERE c.day >= ${day}), 0)::bigint`;
  return Prisma.sql`(
    SELECT c.value, ${sumSince(Prisma.sql`date_trunc('month', ${countDay})`)} AS month_micros, ${sumSince(countDay)} AS day_micros
    FROM (
      SELECT b.value, b.day, b.micros FROM jsonb_to_recordset(${JSON.stringify(sums)}::jsonb) AS b (value text, day date, micros bigint)
      UNION ALL
      SELECT counted.value::text, g.day, g.micros FROM (
        SELECT r.api_key_id, (r.finished_at AT TIME ZONE 'UTC')::date AS day, sum(r.charged_micros)::bigint AS micros FROM usage_records r
        WHERE r.account_id = ${accountId}::uuid
          AND r.finished_at >= greatest(${until}::timestamptz, date_trunc('month', statement_timestamp(), 'UTC'))
        GROUP BY 1, 2
      ) g ${countedValues(cap)}
    ) c GROUP BY c.value
  ) s`;
}

/** The SQL of caps. What takes an account finds nothing of another. */
export class SpendCapStore {
  /** All that limit what is spent: of the account, its keys and its labels, with what is used. That of a key has the id of its latest successor. */
  async list(statements: Statements, accountId: string): Promise<SpendCap[]> {
    return statements.rows(Prisma.sql`
      SELECT r.id, r.label, CASE WHEN r.label = ${KEY_LABEL} THEN latest_key(r.value::uuid)::text ELSE r.value END AS value, r.max_jobs, r.daily_micros, r.monthly_micros, r.daily_at_cap, r.monthly_at_cap, r.retention_seconds,
        r.created_at, r.updated_at, coalesce(u.held_micros, 0) AS held_micros, coalesce(${dayMicros}, 0) AS day_micros,
        coalesce(${monthMicros}, 0) AS month_micros,
        coalesce(${isDayStopped}, false) AS day_stopped, coalesce(${isMonthStopped}, false) AS month_stopped
      FROM label_rules r
      LEFT JOIN label_use u ON u.account_id = r.account_id AND u.label = r.label AND u.value = r.value
      WHERE r.account_id = ${accountId}::uuid AND (r.daily_micros IS NOT NULL OR r.monthly_micros IS NOT NULL)
      ORDER BY r.label, r.value NULLS LAST`);
  }

  /** The key as which a key counts: the first of those that replaced each other, down to it. Null where the account has no such key. */
  async countsAs(statements: Statements, accountId: string, keyId: string): Promise<string | null> {
    const [row] = await statements.rows<{ id: string }>(Prisma.sql`
      SELECT (spend_keys_of(k.id))[1] AS id FROM api_keys k WHERE k.id = ${keyId}::uuid AND k.account_id = ${accountId}::uuid`);
    return row?.id ?? null;
  }

  /** Whether a cap counts what one of these keys submits: its own, or that of each key. @param keyIds as which keys count. */
  async limitsAny(statements: Statements, accountId: string, keyIds: readonly string[]): Promise<boolean> {
    const rows = await statements.rows(Prisma.sql`
      SELECT 1 FROM label_rules r WHERE r.account_id = ${accountId}::uuid AND r.label = ${KEY_LABEL}
        AND (r.value = ANY(${[...keyIds]}::text[]) OR r.value IS NULL) LIMIT 1`);
    return rows.length > 0;
  }

  /**
   * Count the jobs that have not ended by a cap that is new to them. Jobs are locked before what they are counted by, as their ends do.
   *
   * @returns how many.
   */
  async adopt(tx: Statements, accountId: string, { label, value }: RuleKey): Promise<number> {
    const [row] = await tx.rows<{ count: number }>(Prisma.sql`
      WITH locked AS (
        SELECT j.id, m.value, m.counted FROM jobs j CROSS JOIN LATERAL ${countedBy} m
        WHERE j.account_id = ${accountId}::uuid AND j.delivery <> 'done' AND m.label = ${label}::text
          AND (${value}::text IS NULL OR m.value = ${value}::text) AND NOT ${isCountedBy(Prisma.sql`m.label`, Prisma.sql`m.value`)}
        ORDER BY j.id FOR UPDATE OF j
      ), adopted AS (
        UPDATE jobs j SET limited_labels = coalesce(j.limited_labels, '{}') || l.counted
        FROM (SELECT id, array_agg(counted) AS counted FROM locked GROUP BY id) l WHERE j.id = l.id RETURNING j.id, j.held_micros
      ), used AS (
        INSERT INTO label_use AS u (account_id, label, value, live, held_micros)
        SELECT ${accountId}::uuid, ${label}::text, l.value, count(*)::int, sum(a.held_micros)::bigint
        FROM adopted a JOIN locked l ON l.id = a.id GROUP BY l.value ORDER BY l.value
        ON CONFLICT (account_id, label, value) DO UPDATE
          SET live = u.live + excluded.live, held_micros = u.held_micros + excluded.held_micros
        RETURNING 1
      )
      SELECT count(*)::int AS count FROM adopted, (SELECT count(*) FROM used) AS done`);
    return row?.count ?? 0;
  }

  /** Whether a cap counts something else than the records of usage say. Locks nothing: a job's end writes both at once. */
  async isMiscounted(statements: Statements, accountId: string, cap: RuleKey, summed: SummedUsage): Promise<boolean> {
    const rows = await statements.rows(Prisma.sql`
      SELECT 1 FROM ${chargedBy(accountId, cap, summed)}
      LEFT JOIN label_use u ON u.account_id = ${accountId}::uuid AND u.label = ${cap.label} AND u.value = s.value
      WHERE (s.day_micros, s.month_micros) IS DISTINCT FROM (${dayMicros}, ${monthMicros}) LIMIT 1`);
    return rows.length > 0;
  }

  /**
   * The transaction counts by caps of keys itself (`countCharged`): the trigger `label_rules_count_trigger`, which does so for processes of before
   * `caps_counted_by_who_sets_them`, leaves it to that.
   */
  async countsItself(tx: Statements): Promise<void> {
    await tx.rows(Prisma.sql`SELECT set_config('millrace.counts_caps', 'on', true) AS on`);
  }

  /**
   * Take what was charged today and this month from the records of usage: a cap counts from the start of its day and month. Rows are
   * locked first, in a statement of their own: a job that ends meanwhile is in the sum of the next, or adds to it afterwards.
   *
   * @param summed what was summed before for this cap: what is read with the rows locked is the usage since then.
   */
  async countCharged(tx: Statements, accountId: string, cap: RuleKey, summed: SummedUsage): Promise<void> {
    await lockUse(tx, accountId, cap);
    await tx.execute(Prisma.sql`
      INSERT INTO label_use AS u (account_id, label, value, day, day_micros, month_micros)
      SELECT ${accountId}::uuid, ${cap.label}::text, s.value, ${countDay}, s.day_micros, s.month_micros
      FROM ${chargedBy(accountId, cap, summed)} ORDER BY s.value
      ON CONFLICT (account_id, label, value) DO UPDATE
        SET day = excluded.day, day_micros = excluded.day_micros, month_micros = excluded.month_micros
        WHERE (u.day = excluded.day + 1) IS NOT TRUE`);
  }

  /** Forget what was charged under a cap that is deleted: from now on not all is counted. Where another cap counts it, it stays. */
  async forgetCharged(tx: Statements, accountId: string, { label, value }: RuleKey): Promise<void> {
    await lockUse(tx, accountId, { label, value });
    await tx.execute(Prisma.sql`
      UPDATE label_use u SET day_micros = 0, month_micros = 0
      WHERE u.account_id = ${accountId}::uuid AND u.label = ${label} AND (${value}::text IS NULL OR u.value = ${value}::text) AND NOT EXISTS (
        SELECT FROM label_rules r WHERE r.account_id = u.account_id AND r.label = u.label AND (r.value = u.value OR r.value IS NULL))`);
  }

  /** Note that a submission was refused for a cap: all of it is used, as far as jobs can. Once a day or month, and not once the next day has begun. */
  async noteReached(statements: Statements, accountId: string, { label, value, limit }: Excess): Promise<void> {
    const isDay = limit === 'daily_micros';
    const isMonth = Prisma.sql`date_trunc('month', u.warned_on) = date_trunc('month', ${today})`;
    await statements.execute(Prisma.sql`
      INSERT INTO label_use AS u (account_id, label, value, warned_on, day_warned, month_warned)
      VALUES (${accountId}::uuid, ${label}, ${value}, ${today}, ${isDay ? 100 : 0}, ${isDay ? 0 : 100})
      ON CONFLICT (account_id, label, value) DO UPDATE SET warned_on = ${today},
        day_warned = CASE WHEN ${isDay} THEN 100 WHEN u.warned_on = ${today} THEN u.day_warned ELSE 0 END,
        month_warned = CASE WHEN NOT ${isDay} THEN 100 WHEN ${isMonth} THEN u.month_warned ELSE 0 END
      WHERE (u.warned_on = ${today} + 1) IS NOT TRUE AND NOT coalesce(CASE WHEN ${isDay} THEN u.warned_on = ${today} AND u.day_warned = 100 ELSE ${isMonth} AND u.month_warned = 100 END, false)`);
  }

  /**
   * Caps of accounts and keys that are new or were changed in the last seconds, for submissions that did not see them yet, in the order of
   * their ids.
   */
  async listFresh(
    statements: Statements,
    seconds: number,
    { after, limit }: { after: string | null; limit: number },
  ): Promise<FreshCap[]> {
    return statements.rows(Prisma.sql`
      SELECT r.id, r.account_id, r.label, r.value FROM label_rules r
      WHERE starts_with(r.label, '@') AND r.updated_at > now() - make_interval(secs => ${seconds}) AND r.id > ${after ?? BEFORE_ALL}::uuid
      ORDER BY r.id LIMIT ${limit}`);
  }

  /** Accounts with caps that count what several keys submit (`listOfLines`), in the order of their ids. */
  async listWithLines(
    statements: Statements,
    { after, limit }: { after: string | null; limit: number },
  ): Promise<{ accountId: string }[]> {
    return statements.rows(Prisma.sql`
      SELECT DISTINCT r.account_id FROM label_rules r
      WHERE r.account_id > ${after ?? BEFORE_ALL}::uuid AND ${isOfLine} ORDER BY r.account_id LIMIT ${limit}`);
  }

  /** Caps of an account that count what several keys submit: of a key that was rotated or made others, and of each key where one is. */
  async listOfLines(statements: Statements, accountId: string): Promise<FreshCap[]> {
    return statements.rows(Prisma.sql`
      SELECT r.id, r.account_id, r.label, r.value FROM label_rules r
      WHERE r.account_id = ${accountId}::uuid AND ${isOfLine} ORDER BY r.id`);
  }

  /** Jobs that wait or run though a cap with `stop` is used up, in the order of their ids. */
  async listSpent(statements: Statements, after: string | null, limit: number): Promise<SpentJob[]> {
    return statements.rows(Prisma.sql`
      WITH spent AS MATERIALIZED (
        SELECT u.account_id, u.label, u.value FROM label_use u
        CROSS JOIN LATERAL (
          SELECT r.daily_at_cap, r.monthly_at_cap FROM label_rules r
          WHERE r.account_id = u.account_id AND r.label = u.label AND (r.value = u.value OR r.value IS NULL)
          ORDER BY r.value NULLS LAST LIMIT 1) r
        WHERE (u.day_stopped_on IS NOT NULL OR u.month_stopped_on IS NOT NULL) AND u.live > 0 AND (${isDayStopped} OR ${isMonthStopped})
      )
      SELECT DISTINCT j.id, j.account_id, j.surface, j.deployment_id FROM spent s
      JOIN jobs j ON j.account_id = s.account_id AND j.delivery <> 'done' AND ${isCountedBy(Prisma.sql`s.label`, Prisma.sql`s.value`)}
      WHERE j.status IN ('queued', 'running') AND j.held_micros > 0 AND j.id > ${after ?? BEFORE_ALL}::uuid
      ORDER BY j.id LIMIT ${limit}`);
  }
}
