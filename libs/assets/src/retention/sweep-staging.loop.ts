import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import type { BlobStore, StagedLeftover } from '../store';

const BATCH = 200;
/** Longer than any upload takes: a process that died left behind what is older. */
const STAGED_SECONDS = 86_400;

/** Removes bytes that were staged and neither placed nor discarded. */
export class SweepStagingLoop implements Loop {
  readonly name = 'sweep-staging';
  readonly everyMs = 600_000;
  private readonly sweep: ItemSweep<StagedLeftover>;
  /** The listing of the round under way: a store has no cursor to begin at. */
  private listing: AsyncIterator<StagedLeftover> | undefined;

  constructor(
    private readonly store: Pick<BlobStore, 'stagedBefore'>,
    private readonly stagedSeconds = STAGED_SECONDS,
  ) {
    this.sweep = new ItemSweep({
      limit: BATCH,
      page: (after, limit) => this.page(after, limit),
      keyOf: (leftover) => leftover.name,
      work: async (leftover) => {
        await leftover.drop();
        return true;
      },
    });
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }

  private async page(after: string | null, limit: number): Promise<StagedLeftover[]> {
    if (after === null || this.listing === undefined) {
      const before = new Date(Date.now() - this.stagedSeconds * 1000);
      this.listing = this.store.stagedBefore(before)[Symbol.asyncIterator]();
    }
    const page: StagedLeftover[] = [];
    while (page.length < limit) {
      const next = await this.listing.next();
      if (next.done === true) break;
      page.push(next.value);
    }
    return page;
  }
}
