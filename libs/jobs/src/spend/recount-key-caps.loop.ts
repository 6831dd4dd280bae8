import type { Database } from '@millrace/database';
import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import { KEY_LABEL } from '../labels';
import { recountCap, type CapCounts } from './recount-cap';
import type { SpendCapStore } from './spend-cap.store';
import { sumUsage, sumsOf } from './summed-usage.store';

const PAGE = 200;

/**
 * Counts again by the caps that count what several keys submit. A process of before `keys_that_spend_together` counts a job by the key that
 * submitted it alone, for as long as one runs: during an upgrade, and after a rollback. Each process of this version begins with it.
 */
export class RecountKeyCapsLoop implements Loop {
  readonly name = 'recount-key-caps';
  readonly everyMs = 3_600_000;
  private readonly sweep: ItemSweep<{ accountId: string }>;

  constructor(
    private readonly database: Database,
    private readonly store: CapCounts & Pick<SpendCapStore, 'listWithLines' | 'listOfLines'>,
  ) {
    this.sweep = new ItemSweep({
      limit: PAGE,
      page: (after, limit) => store.listWithLines(database, { after, limit }),
      keyOf: ({ accountId }) => accountId,
      work: ({ accountId }) => this.recount(accountId),
    });
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }

  /**
   * All caps of an account by one sum of its month. One that fails keeps no other from its count.
   *
   * @throws the first error, when all have been tried.
   */
  private async recount(accountId: string): Promise<boolean> {
    const { database, store } = this;
    const summed = await sumUsage(database, accountId, {
      label: KEY_LABEL,
      value: null,
    });
    let changed = false;
    const errors: unknown[] = [];
    for (const cap of await store.listOfLines(database, accountId)) {
      try {
        changed = (await recountCap(database, store, cap, sumsOf(summed, cap))) || changed;
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
    return changed;
  }
}
