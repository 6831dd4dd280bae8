import { Prisma } from '@prisma/client';
import type { IdempotentOperation } from '@millrace/contracts';
import type { Statements } from './database';
import { composeStatement, statementPart, type StatementPart } from './statement-part';

/** A single-use key as a request presents it. */
export interface KeyClaim {
  accountId: string;
  operation: IdempotentOperation;
  key: string;
  lifetimeSeconds: number;
}

/** The reason with which a statement refuses itself when the key was presented before. */
export const KEY_REUSED = 'idempotency_key_reuse';

/** A key that ran out is claimed again; any other one refuses the statement. */
const unlessClaimed = Prisma.sql`
    ON CONFLICT (account_id, operation, key) DO UPDATE
      SET subject_id = excluded.subject_id, created_at = excluded.created_at, expires_at = excluded.expires_at
      WHERE k.expires_at <= now() OR refuse(${KEY_REUSED})`;

/**
 * The part that claims a key and yields one row, or refuses the statement that it is in. The key commits or vanishes with
 * that statement, which is what makes an unknown outcome decidable: the key and the record exist both or not at all (contract,
 * 4.1). A concurrent duplicate waits here for the first to commit, and then refuses.
 *
 * @param subject yields the id of the record that the request makes.
 */
export function claimKeyPart(claim: KeyClaim, subject: StatementPart<'id'>): StatementPart {
  return statementPart('key')`
    INSERT INTO idempotency_keys AS k (account_id, operation, key, subject_id, expires_at)
    SELECT ${claim.accountId}::uuid, ${claim.operation}, ${claim.key}, s.id,
      now() + make_interval(secs => ${claim.lifetimeSeconds}) FROM ${subject} s
    ${unlessClaimed} RETURNING 1`;
}

/**
 * The part that claims the keys of many records in the order of account and key, as `claimKeyPart` does one: so two statements
 * that claim some of the same keys never wait for each other in a circle. Yields a row for each key.
 *
 * @param records each key once; null: a record without one.
 */
export function claimKeysPart(
  { operation, lifetimeSeconds }: Pick<KeyClaim, 'operation' | 'lifetimeSeconds'>,
  records: StatementPart<'id' | 'account_id' | 'idempotency_key'>,
): StatementPart {
  return statementPart('keys')`
    INSERT INTO idempotency_keys AS k (account_id, operation, key, subject_id, expires_at)
    SELECT r.account_id, ${operation}, r.idempotency_key, r.id, now() + make_interval(secs => ${lifetimeSeconds})
    FROM ${records} r WHERE r.idempotency_key IS NOT NULL ORDER BY r.account_id, r.idempotency_key
    ${unlessClaimed} RETURNING 1`;
}

/**
 * Claim a key in a transaction, to commit or vanish with it.
 *
 * @param subjectId id of the record that the request makes.
 * @throws RefusedError KEY_REUSED when it was claimed before.
 */
export async function claimKey(tx: Statements, claim: KeyClaim, subjectId: string): Promise<void> {
  const subject = statementPart<'id'>('subject')`SELECT ${subjectId}::uuid AS id`;
  await tx.query(composeStatement([])`SELECT FROM ${claimKeyPart(claim, subject)}`);
}

/** @returns id of the record that the request with a key made; null when the key is not claimed now. */
export async function subjectOfKey(
  statements: Statements,
  { accountId, operation, key }: Omit<KeyClaim, 'lifetimeSeconds'>,
): Promise<string | null> {
  const [claimed] = await statements.rows<{ subjectId: string }>(Prisma.sql`
    SELECT subject_id FROM idempotency_keys
    WHERE account_id = ${accountId}::uuid AND operation = ${operation} AND key = ${key} AND expires_at > now()`);
  return claimed?.subjectId ?? null;
}

/** Which of these keys of an operation are claimed now, in their order: one statement however many. */
export async function whichAreClaimed(
  statements: Statements,
  operation: IdempotentOperation,
  keys: readonly Pick<KeyClaim, 'accountId' | 'key'>[],
): Promise<boolean[]> {
  const accountIds = keys.map(({ accountId }) => accountId);
  const rows = await statements.rows<{ at: number }>(Prisma.sql`
    SELECT asked.at::int
    FROM unnest((SELECT ${accountIds}::uuid[]), (SELECT ${keys.map(({ key }) => key)}::text[])) WITH ORDINALITY AS asked (account_id, key, at)
    JOIN idempotency_keys k ON k.account_id = asked.account_id AND k.operation = ${operation} AND k.key = asked.key
    WHERE k.expires_at > now()`);
  const claimed = new Set(rows.map(({ at }) => at));
  return keys.map((_, index) => claimed.has(index + 1));
}

/** True when a key is claimed now. */
export async function isKeyClaimed(
  statements: Statements,
  accountId: string,
  operation: IdempotentOperation,
  key: string,
): Promise<boolean> {
  return (await subjectOfKey(statements, { accountId, operation, key })) !== null;
}

/** Forget keys past their lifetime, at most `limit` of them. @returns how many went. */
export async function sweepKeys(statements: Statements, limit: number): Promise<number> {
  return statements.execute(Prisma.sql`
    DELETE FROM idempotency_keys WHERE (account_id, operation, key) IN (
      SELECT account_id, operation, key FROM idempotency_keys WHERE expires_at <= now()
      ORDER BY expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)`);
}

/** Forget the keys of an account's requests that made these records. Costs a walk over the keys that the account has. @returns how many went. */
export async function forgetKeys(
  tx: Statements,
  accountId: string,
  operation: IdempotentOperation,
  subjectIds: readonly string[],
): Promise<number> {
  return tx.execute(Prisma.sql`
    DELETE FROM idempotency_keys
    WHERE account_id = ${accountId}::uuid AND operation = ${operation} AND subject_id = ANY(${[...subjectIds]}::uuid[])`);
}

/** Forget keys of all of an account's requests, at most `limit` of them. @returns how many went. */
export async function forgetKeysOf(tx: Statements, accountId: string, limit: number): Promise<number> {
  return tx.execute(Prisma.sql`
    DELETE FROM idempotency_keys WHERE (account_id, operation, key) IN (
      SELECT account_id, operation, key FROM idempotency_keys WHERE account_id = ${accountId}::uuid LIMIT ${limit})`);
}
