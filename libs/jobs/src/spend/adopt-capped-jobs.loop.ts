import type { Database } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import type { SpendCapStore } from '../labels';

/** Longer than a submission takes that began before the cap was there. */
const FRESH_MINUTES = 5;

/** Counts jobs by caps that their submissions did not see yet, because both were recorded at once. */
export class AdoptCappedJobsLoop implements Loop {
  readonly name = 'adopt-capped-jobs';
  readonly everyMs = 10_000;

  constructor(
    private readonly database: Database,
    private readonly store: Pick<SpendCapStore, 'listFresh' | 'adopt'>,
  ) {}

  /** @throws AggregateError what went wrong, once every cap was tried. */
  async runOnce(): Promise<number> {
    let adopted = 0;
    const failures: unknown[] = [];
    for (const { accountId, ...cap } of await this.store.listFresh(this.database, FRESH_MINUTES)) {
      try {
        adopted += await this.store.adopt(this.database, accountId, cap);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'the jobs of some caps could not be counted');
    return adopted;
  }
}
