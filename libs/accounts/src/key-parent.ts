import { Refusal, type JobMetadata, type Scope } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { isWithinList } from './address-lists';
import type { ApiKeyRecord } from './api-key-record';
import type { Operator } from './audit-log';

/** Who manages keys: a key can only get scopes that its issuer may grant. */
export interface KeyIssuer extends Operator {
  /** Scopes that may be granted. */
  grantable: ReadonlySet<Scope>;
  /** The key that acts, which becomes the parent of the keys it makes; null for an operator. */
  keyId: string | null;
}

/** The scopes of a key that is made, and replaces none. @throws Refusal `forbidden` for one that the issuer has not. */
export function grantedScopes(issuer: KeyIssuer, scopes: readonly Scope[]): Scope[] {
  const beyond = lackedBy(issuer, scopes);
  if (beyond === '') return [...new Set(scopes)];
  throw new Refusal('forbidden', `A key can grant only scopes that it has itself, and yours lacks ${beyond}.`);
}

/**
 * Nobody ends, changes or replaces a key that has a scope which they lack, but the key itself: where it lacks one because its member's role was
 * lowered, its successor lacks that, too.
 *
 * @throws Refusal `forbidden`.
 */
export function assertManages(issuer: KeyIssuer, { id, scopes }: Pick<ApiKeyRecord, 'id' | 'scopes'>): void {
  const beyond = lackedBy(issuer, scopes);
  if (beyond === '' || issuer.keyId === id) return;
  const message = `This API key has scopes that you lack: ${beyond}. Use it, or a key that has them, or ask an owner of the account.`;
  throw new Refusal('forbidden', message);
}

function lackedBy({ grantable }: KeyIssuer, scopes: readonly Scope[]): string {
  return scopes.filter((scope) => !grantable.has(scope)).join(', ');
}

/**
 * A key gives away no more than it has: what it makes or changes may be used from its own networks alone.
 *
 * @param acting null for an operator.
 * @throws Refusal `forbidden`.
 */
export function assertGrantsAddresses(acting: ApiKeyRecord | null, allowed: readonly string[]): void {
  if (acting === null || isWithinList(allowed, acting.allowedAddresses)) return;
  const own = acting.allowedAddresses.join(', ');
  throw new Refusal('forbidden', `Your API key may be used from ${own} alone, and so may the keys that it manages.`);
}

/**
 * For which keys a new one counts: caps of a key limit what it makes, too, so that none makes itself a new allowance. Who may set caps gives
 * one.
 *
 * @param acting null for an operator.
 */
export function spendsFor(acting: ApiKeyRecord | null, { grantable }: KeyIssuer): readonly string[] {
  return acting === null || grantable.has('credits:write') ? [] : acting.spendKeys;
}

/** Caps on what keys may spend, as far as the keys of an account need to know of them. */
export interface KeyCaps {
  /** Whether a cap counts what one of these keys submits: its own, or that of each key. */
  limitsAny(tx: Statements, accountId: string, keyIds: readonly string[]): Promise<boolean>;
}

/**
 * The keys for which the acting one counts and the other does not: by whose caps it would not be limited if it had the other. Who may set caps
 * is limited by none.
 *
 * @param acting null for an operator.
 */
export function spendsForBeyond(
  acting: ApiKeyRecord | null,
  issuer: KeyIssuer,
  { spendKeys }: Pick<ApiKeyRecord, 'spendKeys'>,
): string[] {
  return spendsFor(acting, issuer).filter((key) => !spendKeys.includes(key));
}

/** A key would give who holds it another key to spend with, beyond its own cap. */
export function beyondCap(id: string): Refusal {
  const message =
    `A spend cap limits your API key, and not the key ${id}, which it therefore cannot replace. Create a new key with yours, or have an owner ` +
    'of the account replace it, or a key with the scopes `credits:write` and `keys:admin`.';
  return new Refusal('forbidden', message);
}

/** The keys of an account, as far as they decide whose child a new one is. The account's row is held meanwhile. */
export interface KeyLines {
  /** A key of the account, held against changes until the transaction ends. */
  lock(tx: Statements, accountId: string, id: string): Promise<ApiKeyRecord | null>;
  /** A key and the keys that replaced it, one after the other, the latest last; whether each works now. */
  line(tx: Statements, accountId: string, id: string): Promise<{ id: string; works: boolean }[]>;
  /** Whether `ancestor` made a key, or made one that made it, and so on. */
  descendsFrom(tx: Statements, accountId: string, id: string, ancestor: string): Promise<boolean>;
}

/** What a key makes ends with it; what a member makes in a session outlives the session, and ends with the member. */
function makerOf(acting: ApiKeyRecord | null): ApiKeyRecord | null {
  return acting?.isSessionKey === true ? null : acting;
}

/**
 * The parent of a key that is made. Sub-keys are of the users of a program, which may work on with a rotated key during the overlap: their
 * parent is the latest successor that works, as of those that were made before. Another key ends with the one that made it, so that who
 * has found an old key makes none that outlasts it.
 *
 * @param acting null for an operator.
 * @param labels those of the new key; null: it is no sub-key.
 * @returns null where it has none.
 */
export async function parentOfNew(
  tx: Statements,
  keys: KeyLines,
  acting: ApiKeyRecord | null,
  labels: JobMetadata | null,
): Promise<ApiKeyRecord | null> {
  const maker = makerOf(acting);
  if (maker === null || labels === null) return maker;
  const latest = (await keys.line(tx, maker.accountId, maker.id)).findLast(({ works }) => works);
  return latest === undefined ? maker : keys.lock(tx, maker.accountId, latest.id);
}

/**
 * The parent of the key that replaces `old`. Where the acting key, or one that replaced it, is `old` or made it, that is the parent of `old`:
 * who works on with the old key during the overlap, or lost the new one, gets a key that lasts as long.
 *
 * @param acting null for an operator.
 * @returns null where it has none.
 * @throws Refusal `forbidden` where `old` has a network that the acting key has not, or made the acting key.
 */
export async function parentOfSuccessor(
  tx: Statements,
  keys: KeyLines,
  acting: ApiKeyRecord | null,
  { accountId, id, labels, parentId, allowedAddresses }: ApiKeyRecord,
): Promise<ApiKeyRecord | null> {
  assertGrantsAddresses(acting, allowedAddresses);
  const maker = makerOf(acting);
  const line = maker === null ? [] : await keys.line(tx, accountId, maker.id);
  if (maker === null || line.some((key) => key.id === id || key.id === parentId)) {
    return parentId === null ? null : keys.lock(tx, accountId, parentId);
  }
  if (!(await keys.descendsFrom(tx, accountId, maker.id, id))) return parentOfNew(tx, keys, acting, labels);
  throw new Refusal('forbidden', 'A key cannot replace the key that it was made by; use that key, or an older one.');
}

/** When a key expires without the maximum age of its account; null means never. */
export function askedExpiryOf({ expiresAt, expiresByAge, askedExpiresAt }: ApiKeyRecord): Date | null {
  return expiresByAge ? askedExpiresAt : expiresAt;
}

/** When a key ends for those that it made: age counts for each key from when that was made. Null means never. */
export function endOf(key: ApiKeyRecord): Date | null {
  return earlier(askedExpiryOf(key), key.revokedAt);
}

/** When a key that is made now expires. */
export type KeyExpiry = Pick<ApiKeyRecord, 'expiresAt' | 'expiresByAge' | 'askedExpiresAt'>;

/** @param maxAgeSeconds of keys of its account; null: they end at no age. */
export function expiryWithin(asked: Date | null, maxAgeSeconds: number | null, now: Date): KeyExpiry {
  const aged = maxAgeSeconds === null ? null : new Date(now.getTime() + maxAgeSeconds * 1_000);
  if (aged === null || (asked !== null && asked <= aged)) {
    return { expiresAt: asked, expiresByAge: false, askedExpiresAt: null };
  }
  return { expiresAt: aged, expiresByAge: true, askedExpiresAt: asked };
}

/** The earlier of two times, where null means never. */
export function earlier(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}

/**
 * When a key expires that `parent` makes: as asked for, by default with its parent, and never later.
 *
 * @throws Refusal `invalid_request` when it was asked to outlive its parent.
 */
export function expiryUnder(parent: ApiKeyRecord | null, asked: Date | null | undefined): Date | null {
  const end = parent === null ? null : endOf(parent);
  const wish = asked ?? null;
  if (end !== null && wish !== null && wish > end) {
    const reason = `must not be after ${end.toISOString()}, when the key ends that makes it`;
    throw Refusal.ofFields([{ field: 'expires_at', reason }]);
  }
  return wish ?? end;
}
