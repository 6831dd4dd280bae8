import { Refusal } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { LoadingCache } from '@millrace/platform';
import type { AccountStore } from './account.store';

/** A suspension holds everywhere within 5 s. */
const STANDING_TTL_MS = 3_000;
const CACHED_ACCOUNTS = 10_000;

/** Whether an account may be served, for requests that prove themselves by a signed link instead of a key. */
export class AccountStanding {
  private readonly active: LoadingCache<boolean>;

  constructor(database: Statements, accounts: Pick<AccountStore, 'find'>) {
    this.active = new LoadingCache({
      max: CACHED_ACCOUNTS,
      ttlMs: STANDING_TTL_MS,
      load: async (id) => (await accounts.find(database, id))?.status === 'active',
    });
  }

  /** @param accountId from a link whose signature was verified. @throws Refusal `forbidden` for a suspended account. */
  async assertActive(accountId: string): Promise<void> {
    if (await this.active.get(accountId)) return;
    throw new Refusal('forbidden', 'The account that this link belongs to is suspended.');
  }

  /** Look every account up again: this process changed one. */
  forget(): void {
    this.active.clear();
  }
}
