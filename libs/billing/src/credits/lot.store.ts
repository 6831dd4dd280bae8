import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import type { Draw, Lot } from './lots';

/** The SQL of lots. A caller that writes has locked the account's balance first. */
export class LotStore {
  async open(tx: Statements, accountId: string, lot: Lot): Promise<void> {
    await tx.models.creditLot.create({ data: { accountId, ...lot } });
  }

  /** The account's lots that have something left. */
  async list(tx: Statements, accountId: string): Promise<Lot[]> {
    return tx.models.creditLot.findMany({
      where: { accountId, remainingMicros: { gt: 0 } },
      select: { transactionId: true, remainingMicros: true, expiresAt: true },
    });
  }

  /** Draw what has left the account: take it from the lots, and count it as drawn on the balance. */
  async draw(tx: Statements, accountId: string, draws: readonly Draw[]): Promise<void> {
    await tx.execute(Prisma.sql`
      WITH lot AS (
        UPDATE credit_lots l SET remaining_micros = l.remaining_micros - d.amount, drawn_micros = l.drawn_micros + d.amount
        FROM ${drawn(draws)} WHERE l.transaction_id = d.id AND l.account_id = ${accountId}::uuid
        RETURNING d.amount
      )
      UPDATE balances SET drawn_micros = drawn_micros + (SELECT sum(amount) FROM lot)
      WHERE account_id = ${accountId}::uuid`);
  }

  /** Take from lots what has expired of them. */
  async expire(tx: Statements, accountId: string, draws: readonly Draw[]): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE credit_lots l SET remaining_micros = l.remaining_micros - d.amount
      FROM ${drawn(draws)} WHERE l.transaction_id = d.id AND l.account_id = ${accountId}::uuid`);
  }

  /** Accounts with a lot past its expiry, in the order of their ids. @param afterAccountId null: from the first. */
  async listExpired(tx: Statements, afterAccountId: string | null, limit: number): Promise<string[]> {
    const rows = await tx.rows<{ accountId: string }>(Prisma.sql`
      SELECT DISTINCT account_id FROM credit_lots
      WHERE expires_at <= now() AND remaining_micros > 0 AND (account_id > ${afterAccountId}::uuid) IS NOT FALSE
      ORDER BY account_id LIMIT ${limit}`);
    return rows.map((row) => row.accountId);
  }
}

function drawn(draws: readonly Draw[]): Prisma.Sql {
  return Prisma.sql`unnest(${draws.map((draw) => draw.transactionId)}::uuid[],
    ${draws.map((draw) => draw.amountMicros)}::bigint[]) AS d (id, amount)`;
}
