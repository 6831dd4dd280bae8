import { Refusal, SCOPES, type AccountStatus, type JobMetadata, type Scope } from '@millrace/contracts';
import type { AllowList } from './address-lists';
import type { Account } from './account';
import { limitsOf, type AccountLimits } from './account-limits';

/** Who sent a request: an account, and the key it came with. */
export interface Caller {
  accountId: string;
  /** Null where no key was asked for: on an open self-hosted surface and on a demo deployment. */
  apiKeyId: string | null;
  /** The member whose key or session it is. Absent: a key of the account itself, or none. */
  memberId?: string | undefined;
  /** The console session by which it was sent. Absent where a credential came with the request, or none was asked for. */
  sessionId?: string | undefined;
  scopes: ReadonlySet<Scope>;
  /** Of a sub-key: what it submits carries them, and it sees nothing else of its account. Null: no sub-key. */
  labels: JobMetadata | null;
  accountStatus: AccountStatus;
  limits: AccountLimits;
  /** From where it may call: from a network of each. Absent: from anywhere. */
  allowLists?: readonly AllowList[] | undefined;
  /** What this caller makes is kept no longer. Absent: as long as the service keeps it. */
  retentionSeconds?: number | undefined;
  /** A second daily budget, which this caller's uploads share with those of others: counted at that account. */
  sharedUploads?: { accountId: string; bytesPerDay: number } | undefined;
}

/** An account as the caller of what is done in its name; `apiKeyId` is the key that it was first asked with. */
export function callerOfAccount(account: Account, apiKeyId: string | null): Caller {
  return {
    accountId: account.id,
    apiKeyId,
    scopes: new Set(SCOPES),
    labels: null,
    accountStatus: account.status,
    limits: limitsOf(account),
  };
}

/** @throws Refusal 403 `forbidden` when the account is suspended. */
export function assertActive({ accountStatus }: Pick<Caller, 'accountStatus'>): void {
  if (accountStatus !== 'suspended') return;
  throw new Refusal('forbidden', 'This account is suspended; ask the operator of this service to reactivate it.');
}

/**
 * Let a caller through who may do this.
 *
 * @throws Refusal 403 `forbidden` when the account is suspended or the key lacks the scope, which `details.scope` then names.
 */
export function assertScope(caller: Pick<Caller, 'apiKeyId' | 'scopes' | 'accountStatus'>, scope: Scope): void {
  assertActive(caller);
  if (!caller.scopes.has(scope)) {
    if (caller.apiKeyId === null) {
      throw new Refusal('forbidden', `This surface has no keys, and nothing here has the scope ${scope}.`);
    }
    throw new Refusal('forbidden', `This API key lacks the scope ${scope}; use a key that has it.`, {
      details: { scope },
    });
  }
}
