import type { Database } from '@millrace/database';
import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import type { CreditsService } from './credits.service';
import type { LotStore } from './lot.store';

const BATCH = 50;

/** Expires grants past their time, a batch of accounts a run. What jobs hold of them does not expire yet, and stays due. */
export class ExpireCreditsLoop implements Loop {
  readonly name = 'expire-credits';
  readonly everyMs = 30_000;
  private readonly sweep: ItemSweep<string>;

  /** @param graceMs longest life of a job: how long a hold may keep credits whose grant has expired. */
  constructor(database: Database, lots: LotStore, credits: CreditsService, graceMs: number) {
    this.sweep = new ItemSweep({
      limit: BATCH,
      page: (after, limit) => lots.listExpired(database, after, limit),
      keyOf: (accountId) => accountId,
      work: async (accountId) => (await credits.expire(accountId, graceMs)) > 0n,
    });
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }
}
