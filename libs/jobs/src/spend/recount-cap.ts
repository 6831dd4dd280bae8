import type { Database } from '@millrace/database';
import type { FreshCap, SpendCapStore } from './spend-cap.store';
import type { SummedUsage } from './summed-usage.store';

/** What counts by a cap again. */
export type CapCounts = Pick<SpendCapStore, 'adopt' | 'isMiscounted' | 'countCharged'>;

/**
 * Count by a cap what was recorded without it: jobs that have not ended, and what was charged for those that have.
 *
 * @param summed what the cap counts, up to a time of which all is recorded.
 * @returns whether anything was not counted right.
 */
export async function recountCap(
  database: Database,
  store: CapCounts,
  fresh: FreshCap,
  summed: SummedUsage,
): Promise<boolean> {
  const { accountId, ...cap } = fresh;
  // In this order: a job that ends between the two is in the sum, and one that ends later adds to it.
  const adopted = await store.adopt(database, accountId, cap);
  const isMiscounted = await store.isMiscounted(database, accountId, cap, summed);
  if (isMiscounted) await database.transaction((tx) => store.countCharged(tx, accountId, cap, summed));
  return adopted > 0 || isMiscounted;
}
