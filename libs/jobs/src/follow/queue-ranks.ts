import type { Statements } from '@millrace/database';
import { LoadingCache } from '@millrace/platform';
import { CoalescedReads } from './coalesced-reads';
import { QueueEnds } from './queue-ends';
import type { QueueEndsStore } from './queue-ends.store';

/** How old a reading may be. The pool's rotation, from which a place follows too, is cached for as long. */
const TTL_MS = 500;
/** Accounts whose readings are kept; one is some 10 KB at most. */
const CACHED_ACCOUNTS = 1_000;

/** How many jobs of its own account are before a waiting one, without a statement for each that asks. */
export class QueueRanks {
  private readonly readings: LoadingCache<QueueEnds>;
  private readonly newer = new CoalescedReads<QueueEnds>();

  /** @param now milliseconds on a clock that only goes forward, by which readings age. */
  constructor(database: Statements, store: QueueEndsStore, now?: () => number) {
    this.readings = new LoadingCache({
      max: CACHED_ACCOUNTS,
      ttlMs: TTL_MS,
      now,
      load: async (key) => {
        // A UUID has no space; an id of a pool may have anything.
        const end = key.indexOf(' ');
        const [accountId, poolId] = [key.slice(0, end), key.slice(end + 1)];
        return new QueueEnds(await store.read(database, poolId, accountId));
      },
    });
  }

  /** As of half a second ago at most, and not before the job was there; an estimate in the middle of a long queue. */
  async ahead({ id, poolId, accountId }: { id: string; poolId: string; accountId: string }): Promise<number> {
    const key = `${accountId} ${poolId}`;
    const cached = await this.readings.get(key);
    if (cached.covers(id)) return cached.ahead(id);
    return (await this.newer.get(key, () => this.readings.reload(key))).ahead(id);
  }
}
