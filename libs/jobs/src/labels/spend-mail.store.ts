import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

/** How much is used of a cap, for a mail. */
export interface DueWarning {
  accountId: string;
  /** Null: the cap of the account. */
  keyId: string | null;
  /** The day (UTC) on which it was reached, as `yyyy-mm-dd`. */
  on: string;
  /** In percent; 0: nothing to say of that span. */
  dayPercent: number;
  monthPercent: number;
  /** The caps as they are now; null where there is none any more. */
  dailyMicros: bigint | null;
  monthlyMicros: bigint | null;
}

/** The SQL of warnings that are to be mailed, which the trigger `note_label_spend` notes. */
export class SpendMailStore {
  /**
   * Take warnings, for the transaction that records their mails: of two that try, one gets each.
   *
   * @param limit how many accounts and keys at most.
   */
  async take(tx: Statements, limit: number): Promise<DueWarning[]> {
    return tx.rows(Prisma.sql`
      WITH due AS MATERIALIZED (
        SELECT u.account_id, u.label, u.value, u.mail_on, u.day_mail, u.month_mail FROM label_use u
        WHERE u.day_mail > 0 OR u.month_mail > 0 ORDER BY u.account_id LIMIT ${limit} FOR UPDATE SKIP LOCKED
      ), taken AS (
        UPDATE label_use u SET day_mail = 0, month_mail = 0 FROM due d
        WHERE u.account_id = d.account_id AND u.label = d.label AND u.value = d.value
        RETURNING d.account_id, d.label, d.value, d.mail_on, d.day_mail, d.month_mail
      )
      SELECT t.account_id, CASE WHEN t.label = '@key' THEN t.value END AS key_id, to_char(t.mail_on, 'YYYY-MM-DD') AS on,
        t.day_mail AS day_percent, t.month_mail AS month_percent, r.daily_micros, r.monthly_micros
      FROM taken t LEFT JOIN LATERAL (
        SELECT r.daily_micros, r.monthly_micros FROM label_rules r
        WHERE r.account_id = t.account_id AND r.label = t.label AND (r.value = t.value OR r.value IS NULL)
        ORDER BY r.value NULLS LAST LIMIT 1) r ON true
      ORDER BY t.account_id, t.label, t.value`);
  }
}
