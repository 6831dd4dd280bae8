import { DEFAULT_LIMITS, type Caller } from '@millrace/accounts';
import type { Scope } from '@millrace/contracts';

/** A caller without an API key. */
export function keylessCaller(accountId: string, scopes: readonly Scope[]): Caller {
  return {
    accountId,
    apiKeyId: null,
    scopes: new Set(scopes),
    labels: null,
    accountStatus: 'active',
    limits: DEFAULT_LIMITS,
  };
}
