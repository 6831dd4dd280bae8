import type { Database } from '@millrace/database';
import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import type { Model } from './model';
import type { ModelUploads } from './model-uploads.service';
import type { ModelStore } from './model.store';

const BATCH = 20;
const SWEPT = 1_000;
/** As long as jobs are kept by default: long enough to read what went wrong. */
const FAILED_KEPT_DAYS = 7;

/** Ends what requests left: uploads that became an asset and no model, models whose upload has expired, and those that failed a week ago. */
export class SettleUploadsLoop implements Loop {
  readonly name = 'settle-model-uploads';
  readonly everyMs = 30_000;
  private readonly sweep: ItemSweep<Model>;

  constructor(
    private readonly database: Database,
    private readonly store: ModelStore,
    uploads: Pick<ModelUploads, 'resume'>,
  ) {
    this.sweep = new ItemSweep<Model>({
      limit: BATCH,
      page: (after, limit) => store.listUnsettled(database, after, limit),
      keyOf: ({ id }) => id,
      work: async (model) => {
        await uploads.resume(model);
        return true;
      },
    });
  }

  async runOnce(report?: LoopReport): Promise<number> {
    const abandoned = await this.store.removeAbandoned(this.database, BATCH);
    const failed = await this.store.removeFailed(this.database, FAILED_KEPT_DAYS, SWEPT);
    return abandoned + failed + (await this.sweep.run(report));
  }
}
