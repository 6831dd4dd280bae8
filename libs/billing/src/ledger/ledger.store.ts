import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import type { NamedQuery, Statements } from '@millrace/database';
import type { Balance } from './balance';
import { causeOfHold } from './ledger';

export interface Hold {
  accountId: string;
  jobId: string;
  amountMicros: bigint;
}

/** The reason with which a statement refuses itself when the account cannot cover a hold. */
export const INSUFFICIENT_CREDITS = 'insufficient_credits';

/**
 * The SQL of the ledger and of the balances, which are its projection and change in the same statement.
 *
 * An UPDATE first makes its row from the version that its snapshot sees and holds that to the CHECKs, and only then finds
 * that there is a later one. What a statement waited for may not be in its snapshot, so it locks a balance first and makes
 * the new row from the locked one.
 */
export class LedgerStore {
  /**
   * Queries that set an amount aside for a job, or refuse the statement they are part of when the account has less. The
   * last of them is named `hold` and yields one row.
   *
   * @param after name of an earlier query of the statement that must have yielded its row first.
   */
  holdQueries(hold: Hold, after: string): NamedQuery[] {
    const transactionId = newId();
    return [
      {
        name: 'balance',
        sql: Prisma.sql`
          INSERT INTO balances AS b (account_id) SELECT ${hold.accountId}::uuid FROM ${Prisma.raw(after)}
            WHERE ${hold.amountMicros} = 0 OR EXISTS (SELECT FROM balances WHERE account_id = ${hold.accountId}::uuid)
              OR refuse(${INSUFFICIENT_CREDITS})
          ON CONFLICT (account_id) DO UPDATE
            SET available_micros = b.available_micros - ${hold.amountMicros},
                held_micros = b.held_micros + ${hold.amountMicros}, updated_at = now()
            WHERE b.available_micros >= ${hold.amountMicros} OR refuse(${INSUFFICIENT_CREDITS})
          RETURNING 1`,
      },
      {
        name: 'hold_transaction',
        sql: Prisma.sql`
          INSERT INTO ledger_transactions (id, account_id, kind, job_id, cause, actor)
          SELECT ${transactionId}::uuid, ${hold.accountId}::uuid, 'hold', ${hold.jobId}::uuid,
                 ${causeOfHold(hold.jobId)}, 'submission' FROM balance
          RETURNING id`,
      },
      {
        name: 'hold',
        sql: Prisma.sql`
          INSERT INTO ledger_entries (transaction_id, line, from_book, to_book, amount_micros)
          SELECT id, 1, 'available', 'held', ${hold.amountMicros} FROM hold_transaction
          RETURNING 1`,
      },
    ];
  }

  /**
   * Queries that end the hold of the one job that `ended` yields: what was charged becomes revenue, the rest is available
   * again. Expects of `ended` at most one row, with the columns id, account_id, held_micros, charged_micros. A job without
   * a hold is passed over.
   */
  endHoldQueries(ended: string): NamedQuery[] {
    const from = Prisma.raw(ended);
    return [
      {
        name: 'end_transaction',
        sql: Prisma.sql`
          INSERT INTO ledger_transactions (id, account_id, kind, job_id, cause, actor)
          SELECT gen_random_uuid(), account_id, CASE WHEN charged_micros > 0 THEN 'settle' ELSE 'release' END, id,
                 'job:' || id || ':end', 'lifecycle'
          FROM ${from} WHERE held_micros > 0
          RETURNING id, job_id`,
      },
      {
        name: 'end_entries',
        sql: Prisma.sql`
          INSERT INTO ledger_entries (transaction_id, line, from_book, to_book, amount_micros)
          SELECT t.id, l.line, 'held', l.book, l.amount
          FROM end_transaction t JOIN ${from} e ON e.id = t.job_id
          CROSS JOIN LATERAL (VALUES (1, 'revenue', e.charged_micros), (2, 'available', e.held_micros - e.charged_micros))
            AS l (line, book, amount)
          WHERE l.amount > 0
          RETURNING 1`,
      },
      {
        name: 'end_balance_now',
        sql: Prisma.sql`
          SELECT b.account_id, b.held_micros - e.held_micros AS held,
            b.available_micros + e.held_micros - e.charged_micros AS available,
            b.consumed_micros + e.charged_micros AS consumed
          FROM ${from} e JOIN balances b ON b.account_id = e.account_id WHERE e.held_micros > 0 FOR UPDATE OF b`,
      },
      {
        name: 'end_balance',
        sql: Prisma.sql`
          UPDATE balances b
          SET held_micros = n.held, available_micros = n.available, consumed_micros = n.consumed, updated_at = now()
          FROM end_balance_now n WHERE b.account_id = n.account_id
          RETURNING 1`,
      },
    ];
  }

  /**
   * Queries that extend the hold of the one job that `due` yields, from what its account has available: by
   * `extend_micros`, or by all there is when that is less. Expects of `due` at most one row, with the columns id,
   * account_id, held_micros, extend_micros, the row of the job being locked. `extension` then yields the `amount`, and no
   * row when there was nothing to extend.
   */
  extendHoldQueries(due: string): NamedQuery[] {
    return [
      {
        name: 'extension',
        sql: Prisma.sql`
          SELECT d.id AS job_id, d.account_id, d.held_micros, least(b.available_micros, d.extend_micros) AS amount,
            b.available_micros AS available, b.held_micros AS held
          FROM ${Prisma.raw(due)} d JOIN balances b ON b.account_id = d.account_id
          WHERE d.extend_micros > 0 AND b.available_micros > 0 FOR UPDATE OF b`,
      },
      {
        name: 'extension_balance',
        sql: Prisma.sql`
          UPDATE balances b
          SET available_micros = x.available - x.amount, held_micros = x.held + x.amount, updated_at = now()
          FROM extension x WHERE b.account_id = x.account_id
          RETURNING 1`,
      },
      {
        name: 'extension_transaction',
        sql: Prisma.sql`
          INSERT INTO ledger_transactions (id, account_id, kind, job_id, cause, actor)
          SELECT gen_random_uuid(), account_id, 'extend_hold', job_id, 'job:' || job_id || ':extend:' || held_micros,
                 'lifecycle'
          FROM extension
          RETURNING id`,
      },
      {
        name: 'extension_entry',
        sql: Prisma.sql`
          INSERT INTO ledger_entries (transaction_id, line, from_book, to_book, amount_micros)
          SELECT t.id, 1, 'available', 'held', x.amount FROM extension_transaction t, extension x
          RETURNING 1`,
      },
    ];
  }

  /** What an account has, in micro-credits. */
  async balance(tx: Statements, accountId: string): Promise<Balance> {
    const row = await tx.models.balance.findUnique({ where: { accountId } });
    return { availableMicros: row?.availableMicros ?? 0n, heldMicros: row?.heldMicros ?? 0n };
  }
}
