import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { today } from '../labels';

/** How much is used of a cap, for a mail. */
export interface DueWarning {
  /** Null: the cap of the account. */
  keyId: string | null;
  /** In percent; 0: nothing to say of that span. */
  dayPercent: number;
  monthPercent: number;
  /** The day (UTC) on which each was reached, as `yyyy-mm-dd`; null where none ever was. */
  dayOn: string | null;
  monthOn: string | null;
  /** The caps as they are now; null where there is none any more. */
  dailyMicros: bigint | null;
  monthlyMicros: bigint | null;
}

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
/** A day or a month that was over before yesterday is past warning; a month that goes on is not. */
const YESTERDAY = Prisma.sql`${today} - 1`;
const THIS_MONTH = Prisma.sql`least(${YESTERDAY}, date_trunc('month', ${today}::timestamp)::date)`;

const whileOfUse = (on: string, percent: string, since: Prisma.Sql): Prisma.Sql => Prisma.sql`
  CASE WHEN ${Prisma.raw(on)} >= ${since} THEN ${Prisma.raw(percent)} ELSE 0 END`;

/** The SQL of warnings that are to be mailed, which the trigger `note_label_spend` notes. */
export class SpendMailStore {
  /**
   * Accounts that have a warning to be mailed, and had no such mail for a while, in the order of their ids.
   *
   * @param pauseSeconds between two mails to the same people, however often a cap is changed; what is new meanwhile is in the next one.
   */
  async listDue(
    statements: Statements,
    pauseSeconds: number,
    after: string | null,
    limit: number,
  ): Promise<{ accountId: string }[]> {
    return statements.rows(Prisma.sql`
      SELECT DISTINCT u.account_id FROM label_use u LEFT JOIN balances b ON b.account_id = u.account_id
      WHERE (u.day_mail > 0 OR u.month_mail > 0) AND u.account_id > ${after ?? BEFORE_ALL}::uuid
        AND (b.spend_mail_at <= now() - make_interval(secs => ${pauseSeconds})) IS NOT FALSE
      ORDER BY u.account_id LIMIT ${limit}`);
  }

  /**
   * Take the warnings of one account, for the transaction that records its mail: of two that try, one gets each. Until it ends, jobs of
   * this account are neither recorded nor ended.
   */
  async take(tx: Statements, accountId: string): Promise<DueWarning[]> {
    return tx.rows(Prisma.sql`
      WITH due AS MATERIALIZED (
        SELECT u.account_id, u.label, u.value, u.day_mail, u.day_mail_on, u.month_mail, u.month_mail_on FROM label_use u
        WHERE u.account_id = ${accountId}::uuid AND (u.day_mail > 0 OR u.month_mail > 0) ORDER BY u.label, u.value FOR UPDATE
      ), taken AS (
        UPDATE label_use u SET day_mail = 0, month_mail = 0 FROM due d
        WHERE u.account_id = d.account_id AND u.label = d.label AND u.value = d.value
        RETURNING d.account_id, d.label, d.value, d.day_mail, d.day_mail_on, d.month_mail, d.month_mail_on
      )
      SELECT CASE WHEN t.label = '@key' THEN latest_key(t.value::uuid) END AS key_id, r.daily_micros, r.monthly_micros,
        ${whileOfUse('t.day_mail_on', 't.day_mail', YESTERDAY)} AS day_percent, to_char(t.day_mail_on, 'YYYY-MM-DD') AS day_on,
        ${whileOfUse('t.month_mail_on', 't.month_mail', THIS_MONTH)} AS month_percent, to_char(t.month_mail_on, 'YYYY-MM-DD') AS month_on
      FROM taken t LEFT JOIN LATERAL (
        SELECT r.daily_micros, r.monthly_micros FROM label_rules r
        WHERE r.account_id = t.account_id AND r.label = t.label AND (r.value = t.value OR r.value IS NULL)
        ORDER BY r.value NULLS LAST LIMIT 1) r ON true
      ORDER BY t.label, t.value`);
  }

  /** Note that an account was mailed just now. */
  async noteMailed(tx: Statements, accountId: string): Promise<void> {
    await tx.execute(Prisma.sql`
      INSERT INTO balances (account_id, spend_mail_at) VALUES (${accountId}::uuid, now())
      ON CONFLICT (account_id) DO UPDATE SET spend_mail_at = excluded.spend_mail_at`);
  }
}
