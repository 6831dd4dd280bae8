import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import type { PaymentsService } from './payments.service';

const BATCH = 50;

/** Takes back credits whose money went back, once the jobs that held them have released them. */
export class CollectOwedCreditsLoop implements Loop {
  readonly name = 'collect-owed-credits';
  readonly everyMs = 30_000;
  private readonly sweep: ItemSweep<string>;

  constructor(payments: PaymentsService) {
    this.sweep = new ItemSweep({
      limit: BATCH,
      page: (after, limit) => payments.listOwed(after, limit),
      keyOf: (topUpId) => topUpId,
      work: (topUpId) => payments.collect(topUpId),
    });
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }
}
