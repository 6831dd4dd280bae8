import type { AssetService } from '@millrace/assets';
import type { Target } from '@millrace/deployments';
import type { JobSettings } from '../job.settings';
import type { QueueEstimates } from '../rotation';
import type { ReferredAssets } from './examine-submission.step';
import { missingAssets, poolQueueFull } from './refusals';

/** What of a submission is looked up before anything is written. */
export class SubmissionChecks {
  constructor(
    private readonly assets: Pick<AssetService, 'resolveForJob'>,
    private readonly estimates: Pick<QueueEstimates, 'waiting'>,
    private readonly settings: Pick<JobSettings, 'queueLimitPerPool'>,
  ) {}

  /** @returns the ids of the assets, each once. @throws Refusal `missing_asset` when the account lacks one. */
  async inputAssets(accountId: string, { named, malformed, malformedCount }: ReferredAssets): Promise<string[]> {
    const ids = named.flatMap(({ asset_id: id }) => (id === null ? [] : [id]));
    const owned = ids.length === 0 ? new Set<string>() : await this.assets.resolveForJob(accountId, ids);
    const missing = named.filter(({ asset_id: id }) => id === null || !owned.has(id));
    if (malformedCount === 0 && missing.length === 0) return ids;
    throw missingAssets([...malformed, ...missing], malformedCount - malformed.length);
  }

  /** @throws Refusal `queue_full` when the pool takes no more jobs of anyone. */
  async assertRoom(target: Target): Promise<void> {
    const limit = target.queueLimit ?? this.settings.queueLimitPerPool;
    if ((await this.estimates.waiting(target.poolId)) >= limit) throw poolQueueFull();
  }
}
