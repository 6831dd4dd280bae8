import { Refusal, isOwners } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { AccountStore } from './account.store';
import { noAccount } from './accounts.service';
import type { ApiKeyStore } from './api-key.store';
import type { Operator } from './audit-log';

/** Who does what owners alone do. */
export interface Owner extends Operator {
  /** The key that acts: of a session that as which it acts. Null: there is none, as on a self-hosted surface. */
  keyId: string | null;
}

/**
 * Who may do everything. What owners alone do gives others power over the account, or ends it: it is decided by what is stored, never by
 * what a process has in its cache.
 */
export class OwnerRights {
  constructor(
    private readonly accounts: Pick<AccountStore, 'lock'>,
    private readonly keys: Pick<ApiKeyStore, 'lockRights'>,
  ) {}

  /**
   * Hold the account's row until the transaction ends, and make sure that the key that acts is an owner's now. Who changes roles, members
   * or keys holds that row as well.
   *
   * @throws Refusal `not_found` for an account that is not there or closed, `unauthorized` for a key that works no more, `forbidden`
   * for one that may not do everything.
   */
  async hold(tx: Statements, accountId: string, { keyId }: Pick<Owner, 'keyId'>): Promise<void> {
    if (!(await this.accounts.lock(tx, accountId))) throw noAccount(accountId);
    if (keyId === null) throw noOwner();
    const scopes = await this.keys.lockRights(tx, accountId, keyId);
    if (scopes === null) throw endedKey();
    if (!isOwners(scopes)) throw noOwner();
  }
}

/** The key that acts has ended since it was checked. */
export function endedKey(): Refusal {
  return new Refusal('unauthorized', 'The API key is not valid; it may have expired or been revoked.');
}

function noOwner(): Refusal {
  const message = 'Only an owner of the account does this, or an API key with all scopes; ask an owner.';
  return new Refusal('forbidden', message);
}
