import { Prisma } from '@prisma/client';
import { Refusal } from '@millrace/contracts';
import { statementPart, type StatementPart } from '@millrace/database';

/*
 * A request was let in before it does its work, which may take minutes. What it makes for an account that was closed meanwhile, or by a sub-key that was
 * revoked with its label, would be erased by nobody: so the statement that makes it looks again. What a statement makes that began before, the erasure
 * waits for.
 */

/** The reason with which a statement refuses itself when the account is closed. */
export const ACCOUNT_CLOSED = 'account_closed';
/** The reason with which a statement refuses itself when the sub-key is revoked. */
export const SUB_KEY_REVOKED = 'sub_key_revoked';

/** For whom something is made. */
export interface LetIn {
  accountId: string;
  /** The sub-key by which it was asked for; null: another key, or none. */
  subKeyId: string | null;
}

/**
 * Refuse the statement when the account is closed or the sub-key revoked: a look at each by its id, without a lock. Yields what `after` yields.
 *
 * @param after a part that must have yielded its row first.
 */
export function openAccountPart({ accountId, subKeyId }: LetIn, after: StatementPart): StatementPart {
  return statementPart('open_account')`
    SELECT FROM ${after} WHERE ${isOpen(Prisma.sql`${accountId}::uuid`, Prisma.sql`${subKeyId}::uuid`)}`;
}

/** The same of many. Yields a row for each that `accounts` yields. @param after a part that must have run first. */
export function openAccountsPart(
  accounts: StatementPart<'account_id' | 'sub_key_id'>,
  after: StatementPart,
): StatementPart {
  return statementPart('open_accounts')`
    SELECT FROM ${accounts} a, (SELECT count(*) FROM ${after}) AS done
    WHERE ${isOpen(Prisma.sql`a.account_id`, Prisma.sql`a.sub_key_id`)}`;
}

/** A transaction may have begun before the key was revoked: so it is compared with the time of the look. */
const isOpen = (id: Prisma.Sql, subKeyId: Prisma.Sql): Prisma.Sql => Prisma.sql`
  ((SELECT o.closed_at FROM accounts o WHERE o.id = ${id}) IS NULL OR refuse(${ACCOUNT_CLOSED}))
  AND ((SELECT k.revoked_at FROM api_keys k WHERE k.id = ${subKeyId}) <= clock_timestamp() IS NOT TRUE OR refuse(${SUB_KEY_REVOKED}))`;

/** What a request of a closed account is refused with once it was let in. */
export function accountClosed(): Refusal {
  return new Refusal('forbidden', 'This account is closed, and takes no jobs.');
}

/** What a request of a revoked sub-key is refused with once it was let in. */
export function subKeyRevoked(): Refusal {
  return new Refusal('forbidden', 'This API key was revoked while the request was under way. Nothing was submitted.');
}
