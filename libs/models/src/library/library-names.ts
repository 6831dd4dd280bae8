import type { ModelName } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { LoadingCache } from '@millrace/platform';
import type { ModelUseStore } from './model-use.store';

/** A model that an account may use, as graphs call it. */
export interface ListedModel extends ModelName {
  /** Every account may use one of this name. */
  shared: boolean;
}

/** How old a list may be, in milliseconds: what is uploaded or deleted is seen within five seconds. */
const TTL_MS = 3_000;
const CACHED_ACCOUNTS = 500;
/** The most of its own, and of what others share: more than an account may have by itself, unless its operator raised that. */
const MOST_LISTED = 2_000;

/** The names of all models that an account may use, for forms and editors. */
export class LibraryNames {
  private readonly cache: LoadingCache<ListedModel[]>;

  constructor(database: Statements, store: Pick<ModelUseStore, 'listNames'>) {
    this.cache = new LoadingCache({
      max: CACHED_ACCOUNTS,
      ttlMs: TTL_MS,
      load: (accountId) => store.listNames(database, accountId, MOST_LISTED),
    });
  }

  /** Those that are ready, its own before shared ones, by folder and name; 2,000 of either at most. */
  of(accountId: string): Promise<ListedModel[]> {
    return this.cache.get(accountId);
  }
}
