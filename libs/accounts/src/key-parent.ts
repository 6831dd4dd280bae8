import { Refusal, type Scope } from '@millrace/contracts';
import type { ApiKeyRecord } from './api-key-record';
import type { Operator } from './audit-log';

/** Who manages keys: a key can only get scopes that its issuer may grant. */
export interface KeyIssuer extends Operator {
  /** Scopes that may be granted. */
  grantable: ReadonlySet<Scope>;
  /** The key that acts, which becomes the parent of the keys it makes; null for an operator. */
  keyId: string | null;
}

/** @throws Refusal `forbidden` for a scope that the issuer has not. */
export function grantedScopes(issuer: KeyIssuer, scopes: readonly Scope[]): Scope[] {
  const beyond = scopes.filter((scope) => !issuer.grantable.has(scope));
  if (beyond.length === 0) return [...new Set(scopes)];
  const named = beyond.join(', ');
  throw new Refusal('forbidden', `A key can grant only scopes that it has itself, and yours lacks ${named}.`);
}

/** When a key stops working, by what is known now; null means never. */
export function endOf({ expiresAt, revokedAt }: Pick<ApiKeyRecord, 'expiresAt' | 'revokedAt'>): Date | null {
  return earlier(expiresAt, revokedAt);
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
