import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

/** What applies to an account that has never had credits: the default of the column `balances.alert_below_micros`. */
const ALERT_BELOW_MICROS = 5_000_000n;

/** The SQL of when an account is warned of low credits. */
export class CreditAlertStore {
  async find(statements: Statements, accountId: string): Promise<bigint> {
    const [row] = await statements.rows<{ micros: bigint }>(Prisma.sql`
      SELECT alert_below_micros AS micros FROM balances WHERE account_id = ${accountId}::uuid`);
    return row?.micros ?? ALERT_BELOW_MICROS;
  }

  /** An account that has as much or more now is warned again when it has less: the trigger `balances_low_trigger` sees to it. */
  async set(tx: Statements, accountId: string, micros: bigint): Promise<void> {
    await tx.execute(Prisma.sql`
      INSERT INTO balances AS b (account_id, alert_below_micros) VALUES (${accountId}::uuid, ${micros})
      ON CONFLICT (account_id) DO UPDATE SET alert_below_micros = excluded.alert_below_micros, updated_at = now()`);
  }
}
