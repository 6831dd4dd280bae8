import { LoadingCache, type LoadingCacheOptions } from '@millrace/platform';
import type { FailedAttempts } from '../failed-attempts';
import { KnownSecrets, type KnownSecretsOptions, type SecretLookUp } from './known-secrets';

const CACHED = 10_000;

export interface CachedHoldersOptions<T> extends KnownSecretsOptions {
  load: (hash: string) => Promise<T | null>;
  /** How long an answer counts at most. It never outlives the secret. */
  ttlMs: number;
  /** Of those that worked before: see `LoadingCacheOptions`. */
  refreshAfterMs?: number;
}

/** Who has the secrets of one kind, mostly from a cache. */
export class CachedHolders<T extends { validMs: number | null }> {
  private readonly known: KnownSecrets;
  /** Holders of secrets that worked before. Secrets that nobody has cannot evict them: those never get in. */
  private readonly holders: LoadingCache<T | null>;
  /** Answers about all other secrets; mostly that nobody has them. */
  private readonly strangers: LoadingCache<T | null>;

  constructor(failures: FailedAttempts, options: CachedHoldersOptions<T>) {
    const { ttlMs, refreshAfterMs, load } = options;
    this.known = new KnownSecrets(failures, options);
    const ttlMsOf = (holder: T | null): number => holder?.validMs ?? ttlMs;
    const cached: LoadingCacheOptions<T | null> = { max: CACHED, ttlMs, load, ttlMsOf };
    this.holders = new LoadingCache(refreshAfterMs === undefined ? cached : { ...cached, refreshAfterMs });
    // Each look-up of one of these counts for its network.
    this.strangers = new LoadingCache(cached);
  }

  /** @throws Refusal 429 `rate_limited`, without a look-up, when the network has none left. */
  find(wanted: Pick<SecretLookUp<T>, 'hash' | 'isOurs' | 'network'>): Promise<T | null> {
    const { hash } = wanted;
    return this.known.find({
      ...wanted,
      load: () => this.strangers.get(hash),
      isThere: this.strangers.has(hash),
      loadProven: () => this.holders.get(hash),
    });
  }

  /** Look every secret up again. */
  forget(): void {
    this.holders.clear();
    this.strangers.clear();
  }
}
