import { Prisma } from '@prisma/client';
import { Refusal } from '@millrace/contracts';
import { statementPart, type StatementPart } from '@millrace/database';

/*
 * A request was let in before it does its work, which may take minutes. What it makes for an account that was closed meanwhile would be erased by
 * nobody: so the statement that makes it looks again. What a statement makes that began before, the erasure waits for.
 */

/** The reason with which a statement refuses itself when the account is closed. */
export const ACCOUNT_CLOSED = 'account_closed';

/**
 * Refuse the statement when the account is closed: one look by its key, without a lock. Yields what `after` yields.
 *
 * @param after a part that must have yielded its row first.
 */
export function openAccountPart(accountId: string, after: StatementPart): StatementPart {
  return statementPart('open_account')`SELECT FROM ${after} WHERE ${isOpen(Prisma.sql`${accountId}::uuid`)}`;
}

/** The same of many accounts. Yields a row for each that `accounts` yields. @param after a part that must have run first. */
export function openAccountsPart(accounts: StatementPart<'account_id'>, after: StatementPart): StatementPart {
  return statementPart('open_accounts')`
    SELECT FROM ${accounts} a, (SELECT count(*) FROM ${after}) AS done WHERE ${isOpen(Prisma.sql`a.account_id`)}`;
}

const isOpen = (id: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`(SELECT o.closed_at FROM accounts o WHERE o.id = ${id}) IS NULL OR refuse(${ACCOUNT_CLOSED})`;

/** What a request of a closed account is refused with once it was let in. */
export function accountClosed(): Refusal {
  return new Refusal('forbidden', 'This account is closed, and takes no jobs.');
}
