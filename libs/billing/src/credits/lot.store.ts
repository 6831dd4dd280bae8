import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import type { Draw, Lot } from './lots';

/** The SQL of lots. Whoever writes has locked the account's balance first. */
export class LotStore {
  async open(tx: Statements, accountId: string, lot: Lot): Promise<void> {
    await tx.execute(Prisma.sql`
      INSERT INTO credit_lots (transaction_id, account_id, remaining_micros, expires_at)
      VALUES (${lot.transactionId}::uuid, ${accountId}::uuid, ${lot.remainingMicros}, ${lot.expiresAt})`);
  }

  /** The account's lots that have something left. */
  async list(tx: Statements, accountId: string): Promise<Lot[]> {
    const rows = await tx.query<{ id: string; remaining: bigint; expires_at: Date | null }>(Prisma.sql`
      SELECT transaction_id AS id, remaining_micros AS remaining, expires_at FROM credit_lots
      WHERE account_id = ${accountId}::uuid AND remaining_micros > 0`);
    return rows.map((row) => ({ transactionId: row.id, remainingMicros: row.remaining, expiresAt: row.expires_at }));
  }

  /** Draw what has left the account: from the lots, and on the balance, where it is then no longer outstanding. */
  async draw(tx: Statements, accountId: string, draws: readonly Draw[]): Promise<void> {
    await tx.query(Prisma.sql`
      WITH lot AS (
        UPDATE credit_lots l SET remaining_micros = l.remaining_micros - d.amount, drawn_micros = l.drawn_micros + d.amount
        FROM ${drawn(draws)} WHERE l.transaction_id = d.id AND l.account_id = ${accountId}::uuid
        RETURNING d.amount
      )
      UPDATE balances SET drawn_micros = drawn_micros + (SELECT sum(amount) FROM lot)
      WHERE account_id = ${accountId}::uuid
      RETURNING 1`);
  }

  /** Take from lots what has expired of them. */
  async expire(tx: Statements, accountId: string, draws: readonly Draw[]): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE credit_lots l SET remaining_micros = l.remaining_micros - d.amount
      FROM ${drawn(draws)} WHERE l.transaction_id = d.id AND l.account_id = ${accountId}::uuid`);
  }

  /** Accounts with a lot past its expiry, in the order of their ids. */
  async listExpired(tx: Statements, afterAccountId: string, limit: number): Promise<string[]> {
    const rows = await tx.query<{ account_id: string }>(Prisma.sql`
      SELECT DISTINCT account_id FROM credit_lots
      WHERE expires_at <= now() AND remaining_micros > 0 AND account_id > ${afterAccountId}::uuid
      ORDER BY account_id LIMIT ${limit}`);
    return rows.map((row) => row.account_id);
  }
}

function drawn(draws: readonly Draw[]): Prisma.Sql {
  return Prisma.sql`unnest(${draws.map((draw) => draw.transactionId)}::uuid[],
    ${draws.map((draw) => draw.amountMicros)}::bigint[]) AS d (id, amount)`;
}
