import type { Database } from '@millrace/database';
import { ItemSweep } from '@millrace/platform';
import type { FreshCap, SpendCapStore } from './spend-cap.store';

/** Longer than a submission takes that began before the cap was there. */
const FRESH_SECONDS = 300;
const PAGE = 200;
/** What fails is tried some times more while it is new. */
const REST = { firstMs: 10_000, longestMs: 60_000 };

/**
 * Does something for each cap that jobs may have been recorded beside, in rounds.
 *
 * @param work returns whether there was anything to do.
 */
export function freshCaps(
  database: Database,
  store: Pick<SpendCapStore, 'listFresh'>,
  work: (cap: FreshCap) => Promise<boolean>,
): ItemSweep<FreshCap> {
  let roundBeganMs = 0;
  return new ItemSweep({
    limit: PAGE,
    rest: REST,
    page: (after, limit) => {
      if (after === null) roundBeganMs = performance.now();
      // What was new when the round began is worked through, however long that takes.
      const roundSeconds = (performance.now() - roundBeganMs) / 1_000;
      return store.listFresh(database, FRESH_SECONDS + roundSeconds, { after, limit });
    },
    keyOf: ({ id }) => id,
    work,
  });
}
