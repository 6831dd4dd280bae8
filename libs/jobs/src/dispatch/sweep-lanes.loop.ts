import type { Statements } from '@millrace/database';
import type { KeptLanes } from '@millrace/messaging';
import type { Loop, LoopReport } from '@millrace/platform';
import type { GonePoolStore } from '../objectives';

/** Pages of a run; a Redis with more keys takes several runs. */
const PAGES = 20;
/** The workers of a pool that is gone have ended by then. */
const SETTLED_SECONDS = 900;

/**
 * Removes the lanes of pools that are gone: each deployment has a pool for each of its versions, and Redis would keep what is left of their lanes for ever.
 * Of the other lanes it drops the events. A lane that a worker still uses, or that could not be removed, is seen again in the next round.
 */
export class SweepLanesLoop implements Loop {
  readonly name = 'sweep-lanes';
  readonly everyMs = 60_000;
  private from: string | null = null;

  constructor(
    private readonly database: Statements,
    private readonly pools: Pick<GonePoolStore, 'find'>,
    private readonly lanes: KeptLanes,
  ) {}

  /** @returns 0: what is left is not waited for. @throws when Redis is away; the next run tries again. */
  async runOnce(report?: LoopReport): Promise<number> {
    for (let pages = 0; pages < PAGES; pages += 1) {
      const { poolIds, next } = await this.lanes.page(this.from);
      this.from = next;
      await this.sweep(poolIds, report);
      if (next === null) break;
    }
    return 0;
  }

  private async sweep(poolIds: readonly string[], report: LoopReport | undefined): Promise<void> {
    if (poolIds.length === 0) return;
    const gone = new Set(await this.pools.find(this.database, poolIds, SETTLED_SECONDS));
    for (const poolId of poolIds) {
      try {
        await (gone.has(poolId) ? this.lanes.remove(poolId) : this.lanes.shorten(poolId));
      } catch (error) {
        report?.failed(poolId, error);
      }
    }
  }
}
