import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { LabelRule, LabelRuleDraft, LabelUse, RuleKey } from './label-rule';
import { dayMicros, inThisMonth, isToday, lockUse, monthMicros } from './label-use.store';

const columns = Prisma.sql`
  r.id, r.label, r.value, r.max_jobs, r.daily_micros, r.monthly_micros, r.daily_at_cap, r.monthly_at_cap, r.retention_seconds, r.created_at, r.updated_at`;

/**
 * Whether the row `u` says nothing. What was warned of, and what was stopped, counts until its day or month is over: a row that was made
 * again would have it all said once more, and take jobs again.
 */
const isIdle = Prisma.sql`
  u.live = 0 AND ${monthMicros} = 0 AND u.day_mail = 0 AND u.month_mail = 0
  AND (u.day_warned > 0 AND ${isToday('u.warned_on')}) IS NOT TRUE AND (u.month_warned > 0 AND ${inThisMonth('u.warned_on')}) IS NOT TRUE
  AND (${isToday('u.day_stopped_on')}) IS NOT TRUE AND (${inThisMonth('u.month_stopped_on')}) IS NOT TRUE`;

/** The SQL of rules. Every method takes the account: the rule of another is not found. */
export class LabelRuleStore {
  /** How many other rules the account has. Until the transaction ends, it gets no other. */
  async countOthersLocked(tx: Statements, accountId: string, { label, value }: LabelRuleDraft): Promise<number> {
    await tx.rows(Prisma.sql`
      SELECT pg_advisory_xact_lock(hashtextextended(${`label rules of ${accountId}`}, 0))::text AS locked`);
    const [row] = await tx.rows<{ count: number }>(Prisma.sql`
      SELECT count(*)::int AS count FROM label_rules
      WHERE account_id = ${accountId}::uuid AND NOT (label = ${label} AND value IS NOT DISTINCT FROM ${value}::text)`);
    return row?.count ?? 0;
  }

  /** Make the rule of a label and a value, or change it. */
  async put(tx: Statements, accountId: string, draft: LabelRuleDraft): Promise<LabelRule> {
    const { label, value, maxJobs, dailyMicros, monthlyMicros, dailyAtCap, monthlyAtCap, retentionSeconds } = draft;
    const [row] = await tx.rows<LabelRule>(Prisma.sql`
      INSERT INTO label_rules AS r (id, account_id, label, value, max_jobs, daily_micros, monthly_micros, retention_seconds, daily_at_cap, monthly_at_cap)
      VALUES (${newId()}::uuid, ${accountId}::uuid, ${label}, ${value}::text, ${maxJobs}::int, ${dailyMicros}::bigint, ${monthlyMicros}::bigint, ${retentionSeconds}::int,
        ${dailyAtCap}::text, ${monthlyAtCap}::text)
      ON CONFLICT (account_id, label, value) DO UPDATE
        SET max_jobs = excluded.max_jobs, daily_micros = excluded.daily_micros, monthly_micros = excluded.monthly_micros,
          retention_seconds = excluded.retention_seconds, daily_at_cap = excluded.daily_at_cap, monthly_at_cap = excluded.monthly_at_cap, updated_at = now()
      RETURNING ${columns}`);
    return row as LabelRule;
  }

  /** By label and value, the rule for any value last; without the caps of the account and of its keys. */
  async list(statements: Statements, accountId: string): Promise<LabelRule[]> {
    return statements.rows(Prisma.sql`
      SELECT ${columns} FROM label_rules r WHERE r.account_id = ${accountId}::uuid AND NOT starts_with(r.label, '@') ORDER BY r.label, r.value NULLS LAST`);
  }

  /**
   * @param isCap whether it is a cap of the account or of keys, or the rule of a label.
   * @returns what was deleted; null where there is no such rule of the account.
   */
  async delete(tx: Statements, accountId: string, id: string, isCap = false): Promise<LabelRule | null> {
    const [row] = await tx.rows<LabelRule>(Prisma.sql`
      DELETE FROM label_rules r WHERE r.id = ${id}::uuid AND r.account_id = ${accountId}::uuid
        AND starts_with(r.label, '@') = ${isCap} RETURNING ${columns}`);
    return row ?? null;
  }

  /**
   * Forget what was warned of and what was stopped under an earlier rule, and what of it was not mailed yet; what is used decides again, by the
   * rule that counts now (trigger `label_use_spend_trigger`). A value with a rule of its own has nothing to do with the one for every value.
   */
  async renew(tx: Statements, accountId: string, { label, value }: RuleKey): Promise<void> {
    await lockUse(tx, accountId, { label, value });
    await tx.execute(Prisma.sql`
      UPDATE label_use u SET day_warned = 0, month_warned = 0, day_mail = 0, month_mail = 0, day_stopped_on = NULL, month_stopped_on = NULL
      WHERE u.account_id = ${accountId}::uuid AND u.label = ${label} AND (u.value = ${value}::text OR ${value}::text IS NULL AND NOT EXISTS (
        SELECT FROM label_rules r WHERE r.account_id = u.account_id AND r.label = u.label AND r.value = u.value))`);
  }

  /** What the jobs of a label and a value use of its rule; null where none has been counted. */
  async use(statements: Statements, accountId: string, label: string, value: string): Promise<LabelUse | null> {
    const [row] = await statements.rows<LabelUse>(Prisma.sql`
      SELECT u.label, u.value, u.live, u.held_micros, ${dayMicros} AS day_micros, ${monthMicros} AS month_micros
      FROM label_use u WHERE u.account_id = ${accountId}::uuid AND u.label = ${label} AND u.value = ${value}`);
    return row ?? null;
  }

  /**
   * Forget rules and counts, at most `limit` of each: of one value of a label, or all of the account. Counts of jobs that have not ended stay,
   * for their ends: `sweepUse` takes them when they are over.
   *
   * @returns how many went.
   */
  async forget(
    tx: Statements,
    accountId: string,
    of: { label: string; value: string } | null,
    limit: number,
  ): Promise<number> {
    const isOf =
      of === null
        ? Prisma.sql`account_id = ${accountId}::uuid`
        : Prisma.sql`account_id = ${accountId}::uuid AND label = ${of.label} AND value = ${of.value}`;
    const rules = await tx.execute(Prisma.sql`
      DELETE FROM label_rules WHERE id IN (SELECT id FROM label_rules WHERE ${isOf} LIMIT ${limit})`);
    const uses = await tx.execute(Prisma.sql`
      DELETE FROM label_use WHERE (account_id, label, value) IN (
        SELECT account_id, label, value FROM label_use WHERE ${isOf} AND live = 0 LIMIT ${limit} FOR UPDATE)`);
    return rules + uses;
  }

  /**
   * Forget what nothing counts on: labels without live jobs that were charged nothing this month, of which nothing is to be remembered or
   * mailed.
   *
   * @returns how many.
   */
  async sweepUse(statements: Statements, limit: number): Promise<number> {
    return statements.execute(Prisma.sql`
      DELETE FROM label_use u USING (
        SELECT account_id, label, value FROM label_use u WHERE ${isIdle} LIMIT ${limit}
      ) idle
      WHERE u.account_id = idle.account_id AND u.label = idle.label AND u.value = idle.value AND ${isIdle}`);
  }
}
