import { Refusal } from '@millrace/contracts';

/** What one account may have of the whole: three of them can be at it. */
const SHARE_OF_ACCOUNT = 1 / 3;
const RETRY_SECONDS = 5;

/**
 * Counts the memory of uploads under way, where the store keeps parts of them in memory. An upload may take hours, so it is
 * not counted with the bodies of other requests: those would wait for it.
 */
export class StagingMemory {
  private total = 0;
  private readonly byAccount = new Map<string, number>();

  /** @param limitBytes of all uploads of the process. One upload alone is never refused. */
  constructor(private readonly limitBytes: number) {}

  /**
   * Count an upload. @returns what ends it; further calls do nothing.
   *
   * @throws Refusal `rate_limited` while others take too much.
   */
  take(accountId: string, bytes: number): () => void {
    const own = this.byAccount.get(accountId) ?? 0;
    if (own > 0 && own + bytes > this.limitBytes * SHARE_OF_ACCOUNT) throw tooMany('This account has');
    if (this.total > 0 && this.total + bytes > this.limitBytes) throw tooMany('All accounts together have');
    this.count(accountId, bytes);
    let taken = bytes;
    return () => {
      this.count(accountId, -taken);
      taken = 0;
    };
  }

  private count(accountId: string, bytes: number): void {
    this.total += bytes;
    const own = (this.byAccount.get(accountId) ?? 0) + bytes;
    if (own > 0) this.byAccount.set(accountId, own);
    else this.byAccount.delete(accountId);
  }
}

function tooMany(whose: string): Refusal {
  const message = `${whose} as many uploads under way as this process takes in at a time; wait for one to end.`;
  return new Refusal('rate_limited', message, { retryAfterSeconds: RETRY_SECONDS });
}
