import { Refusal } from '@millrace/contracts';
import type { Database } from '@millrace/database';
import type { Loop, LoopReport } from '@millrace/platform';
import type { ModelUploads } from './model-uploads.service';
import type { ModelStore } from './model.store';

const BATCH = 20;

/** Ends what requests left: uploads that became an asset and no model, and models whose upload has expired. */
export class SettleUploadsLoop implements Loop {
  readonly name = 'settle-model-uploads';
  readonly everyMs = 30_000;

  constructor(
    private readonly database: Database,
    private readonly store: ModelStore,
    private readonly uploads: ModelUploads,
  ) {}

  async runOnce(report?: LoopReport): Promise<number> {
    let done = await this.store.removeAbandoned(this.database, BATCH);
    for (const model of await this.store.listUnsettled(this.database, BATCH)) {
      try {
        await this.uploads.resume(model);
        done += 1;
      } catch (error) {
        // Refused bytes are an end, too.
        if (error instanceof Refusal && error.code === 'model_refused') done += 1;
        else report?.failed(model.id, error);
      }
    }
    return done;
  }
}
