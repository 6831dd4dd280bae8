import { wholeAccount, type AssetService } from '@millrace/assets';
import type { Database } from '@millrace/database';
import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import type { ModelSettings } from '../models.settings';
import { keepingSharedBytes } from './model-library.service';
import type { IdleModel, UnusedModelStore } from './unused-model.store';

const PAGE = 100;

/** Deletes models that no job has used for long, where the operator wants that, and says so to their accounts. One account after the other. */
export class DeleteUnusedModelsLoop implements Loop {
  readonly name = 'delete-unused-models';
  readonly everyMs = 3_600_000;
  private readonly sweep: ItemSweep<string>;

  constructor(
    private readonly database: Database,
    private readonly store: UnusedModelStore,
    private readonly assets: Pick<AssetService, 'removeIn'>,
    private readonly settings: Pick<ModelSettings, 'modelsUnusedDays'>,
  ) {
    this.sweep = new ItemSweep<string>({
      limit: PAGE,
      page: (after, limit) => store.listAccounts(database, settings.modelsUnusedDays, after, limit),
      keyOf: (accountId) => accountId,
      work: (accountId) => this.removeUnused(accountId),
    });
  }

  async runOnce(report?: LoopReport): Promise<number> {
    return this.settings.modelsUnusedDays === 0 ? 0 : this.sweep.run(report);
  }

  private async removeUnused(accountId: string): Promise<boolean> {
    let hasRemoved = false;
    for (const model of await this.store.listOf(this.database, accountId, this.settings.modelsUnusedDays)) {
      const isRemoved = await keepingSharedBytes((keepsBytes) => this.remove(model, keepsBytes));
      hasRemoved ||= isRemoved;
    }
    return hasRemoved;
  }

  private remove(model: IdleModel, keepsBytes: boolean): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const removed = await this.store.remove(tx, model, this.settings.modelsUnusedDays);
      if (removed !== null && removed.assetId !== null && !keepsBytes) {
        await this.assets.removeIn(tx, wholeAccount(removed.accountId), removed.assetId);
      }
      return removed !== null;
    });
  }
}
