import type { Loop } from '@millrace/platform';
import type { PaymentsService } from './payments.service';

const BATCH = 50;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** Takes back credits whose money went back, once the jobs that held them have released them. A batch a run. */
export class CollectOwedCreditsLoop implements Loop {
  readonly name = 'collect-owed-credits';
  readonly everyMs = 30_000;
  private after = BEFORE_ALL;

  constructor(private readonly payments: PaymentsService) {}

  async runOnce(): Promise<number> {
    const ids = await this.payments.listOwed(this.after, BATCH);
    for (const id of ids) await this.payments.collect(id);
    this.after = ids.length < BATCH ? BEFORE_ALL : (ids.at(-1) ?? BEFORE_ALL);
    return this.after === BEFORE_ALL ? 0 : ids.length;
  }
}
