import type { AssetScope, AssetService } from '@millrace/assets';
import type { Target } from '@millrace/deployments';
import type { JobSettings } from '../job.settings';
import type { QueueEstimates } from '../rotation';
import type { ReferredAssets } from './examine-submission.step';
import { missingAssets, poolQueueFull } from './refusals';

/** As many as one graph may refer to. */
const ASSETS_AT_A_TIME = 1_000;

/** What of a submission is looked up before anything is written. */
export class SubmissionChecks {
  constructor(
    private readonly assets: Pick<AssetService, 'resolveForJob'>,
    private readonly estimates: Pick<QueueEstimates, 'waiting'>,
    private readonly settings: Pick<JobSettings, 'queueLimitPerPool'>,
  ) {}

  /** @returns the ids of the assets, each once. @throws Refusal `missing_asset` when the account lacks one, or its sub-key. */
  async inputAssets(scope: AssetScope, assets: ReferredAssets): Promise<string[]> {
    return inputAssetsOf(assets, await this.ownedAssets(scope, idsOf(assets)));
  }

  /** Those of the assets that the account has, or its sub-key. */
  async ownedAssets(scope: AssetScope, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const owned = new Set<string>();
    for (let from = 0; from < ids.length; from += ASSETS_AT_A_TIME) {
      const found = await this.assets.resolveForJob(scope, ids.slice(from, from + ASSETS_AT_A_TIME));
      for (const id of found) owned.add(id);
    }
    return owned;
  }

  /** @throws Refusal `queue_full` when the pool takes no more jobs of anyone, or not so many. */
  async assertRoom(target: Target, jobs = 1): Promise<void> {
    const limit = target.queueLimit ?? this.settings.queueLimitPerPool;
    if ((await this.estimates.waiting(target.poolId)) + jobs > limit) throw poolQueueFull();
  }
}

/** The assets that a graph names. */
export function idsOf({ named }: ReferredAssets): string[] {
  return named.flatMap(({ asset_id: id }) => (id === null ? [] : [id]));
}

/** @returns the ids of a graph's assets, each once. @throws Refusal `missing_asset` when one is not among `owned`. */
export function inputAssetsOf(assets: ReferredAssets, owned: ReadonlySet<string>): string[] {
  const { named, malformed, malformedCount } = assets;
  const missing = named.filter(({ asset_id: id }) => id === null || !owned.has(id));
  if (malformedCount === 0 && missing.length === 0) return idsOf(assets);
  throw missingAssets([...malformed, ...missing], malformedCount - malformed.length);
}
