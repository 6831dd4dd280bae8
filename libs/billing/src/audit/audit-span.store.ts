import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { NOTHING, type AuditPosition, type AuditSpan } from './audit-span';

/** Accounts that one step may read together. */
const MOST_ACCOUNTS = 50;
/**
 * A part of an account ends this long ago at the latest: a movement has the time at which its transaction began, and one that
 * began before the part's end has committed by now.
 */
const SETTLED_MINUTES = 10;

/** The SQL that divides the ledger into spans, each of which is read in a bounded time. */
export class AuditSpanStore {
  /** @param transactions in a span, about: a few accounts together, or a part of a large one. */
  constructor(private readonly transactions: number) {}

  /** The span after a position; null at the end. @param most accounts that it may have. */
  async next(
    tx: Statements,
    { accountId, part }: AuditPosition,
    most: number = MOST_ACCOUNTS,
  ): Promise<AuditSpan | null> {
    if (part !== null) return this.partOf(tx, accountId, part);
    const accounts = await this.accountsAfter(tx, accountId, most);
    const [first] = accounts;
    if (first === undefined) return null;
    if (first.transactions > this.transactions) return this.partOf(tx, first.accountId, null);
    const accountIds: string[] = [];
    let together = 0;
    for (const account of accounts) {
      together += account.transactions;
      if (together > this.transactions) break;
      accountIds.push(account.accountId);
    }
    return { accountIds, after: null, sums: NOTHING, day: null, until: null };
  }

  /**
   * Accounts that have a balance, or transactions without one, and how many of these they have, counted up to one more than a span has. Of each account
   * with transactions one of them is read to find it, however many it has.
   */
  private async accountsAfter(
    tx: Statements,
    accountId: string,
    most: number,
  ): Promise<{ accountId: string; transactions: number }[]> {
    return tx.rows(Prisma.sql`
      WITH RECURSIVE moved (account_id, nth) AS (
        SELECT ${nextMoved(Prisma.sql`${accountId}::uuid`)}, 1
        UNION ALL
        SELECT ${nextMoved(Prisma.sql`m.account_id`)}, m.nth + 1 FROM moved m WHERE m.account_id IS NOT NULL AND m.nth < ${most}::int
      )
      SELECT b.account_id, c.transactions
      FROM (
        SELECT account_id FROM (
          (SELECT account_id FROM balances WHERE account_id > ${accountId}::uuid ORDER BY account_id LIMIT ${most}::int)
          UNION SELECT account_id FROM moved WHERE account_id IS NOT NULL
        ) every ORDER BY account_id LIMIT ${most}::int
      ) b
      CROSS JOIN LATERAL (
        SELECT count(*)::int AS transactions
        FROM (SELECT FROM ledger_transactions t WHERE t.account_id = b.account_id LIMIT ${this.transactions + 1}) few
      ) c
      ORDER BY b.account_id`);
  }

  /** The span of one account after a part of it; null: from its first movement on. */
  async partOf(tx: Statements, accountId: string, part: AuditPosition['part']): Promise<AuditSpan> {
    const { reachedAt: after, sums, day } = part ?? { reachedAt: null, sums: NOTHING, day: null };
    const [end] = await tx.rows<{ at: Date }>(Prisma.sql`
      SELECT at FROM (
        SELECT t.at FROM ledger_transactions t
        WHERE t.account_id = ${accountId}::uuid AND ${laterThan('t.at', after)}
        ORDER BY t.at, t.id OFFSET ${this.transactions - 1} LIMIT 1
      ) last WHERE at < now() - make_interval(mins => ${SETTLED_MINUTES})`);
    return { accountIds: [accountId], after, sums, day, until: end?.at ?? null };
  }
}

/** The first account after this one that has transactions. */
const nextMoved = (after: Prisma.Sql): Prisma.Sql => Prisma.sql`
  (SELECT t.account_id FROM ledger_transactions t WHERE t.account_id > ${after} ORDER BY t.account_id LIMIT 1)`;

/** True of rows of the span's accounts. */
export const ofAccounts = (column: string, ids: string[]): Prisma.Sql =>
  Prisma.sql`${Prisma.raw(column)} = ANY(${ids}::uuid[])`;

/** True of movements of a span. @param table the alias of the transactions. */
export const inSpan = (table: string, span: AuditSpan): Prisma.Sql =>
  Prisma.sql`${ofAccounts(`${table}.account_id`, span.accountIds)} AND ${isWithin(`${table}.at`, span)}`;

/** True of times within a span. */
export function isWithin(column: string, { after, until }: AuditSpan): Prisma.Sql {
  const noLater = until === null ? Prisma.sql`true` : Prisma.sql`${Prisma.raw(column)} <= ${until}::timestamptz`;
  return Prisma.sql`${laterThan(column, after)} AND ${noLater}`;
}

function laterThan(column: string, after: Date | null): Prisma.Sql {
  return after === null ? Prisma.sql`true` : Prisma.sql`${Prisma.raw(column)} > ${after}::timestamptz`;
}
