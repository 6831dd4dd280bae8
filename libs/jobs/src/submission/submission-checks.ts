import type { AssetScope, AssetService } from '@millrace/assets';
import type { Target } from '@millrace/deployments';
import type { JobSettings } from '../job.settings';
import type { QueueEstimates } from '../rotation';
import { refusalOfModels, unlistedNames, type AssetPlace, type ExaminedJob } from '../examination';
import { missingAssets, poolQueueFull } from './refusals';

/** As many as one graph may refer to. */
const ASSETS_AT_A_TIME = 1_000;
const NONE: ReadonlySet<string> = new Set();

/** What graphs refer to by names and ids. */
export type References = Pick<ExaminedJob, 'assets' | 'unlistedModels'>;

/** What there is of what graphs refer to: ids of assets, names of models. */
export interface FoundReferences {
  assets: ReadonlySet<string>;
  models: ReadonlySet<string>;
}

/** What of these names the library of an account has. */
export interface ModelNames {
  known(accountId: string, names: readonly string[]): Promise<ReadonlySet<string>>;
}

/** What of a submission is looked up before anything is written. */
export class SubmissionChecks {
  constructor(
    private readonly assets: Pick<AssetService, 'resolveForJob'>,
    private readonly models: ModelNames,
    private readonly estimates: Pick<QueueEstimates, 'waiting'>,
    private readonly settings: Pick<JobSettings, 'queueLimitPerPool'>,
  ) {}

  /**
   * @returns the ids of the assets that the run reads, each once.
   * @throws Refusal `invalid_workflow` when the library lacks a model; `missing_asset` when the account lacks an asset, or its sub-key.
   */
  async inputAssets(scope: AssetScope, job: References): Promise<string[]> {
    return inputAssetsOf(job, await this.find(scope, [job]));
  }

  /** What the account has, or its sub-key, of what these refer to. */
  async find(scope: AssetScope, jobs: readonly References[]): Promise<FoundReferences> {
    const ids = [...new Set(jobs.flatMap(({ assets: { named, mentioned } }) => idsOf([...named, ...mentioned])))];
    const assets = new Set<string>();
    for (let from = 0; from < ids.length; from += ASSETS_AT_A_TIME) {
      const found = await this.assets.resolveForJob(scope, ids.slice(from, from + ASSETS_AT_A_TIME));
      for (const id of found) assets.add(id);
    }
    return { assets, models: await this.knownModels(scope.accountId, unlistedNames(jobs)) };
  }

  /** Which of these models the library of an account has. Reads nothing where there are none. */
  async knownModels(accountId: string, names: readonly string[]): Promise<ReadonlySet<string>> {
    return names.length === 0 ? NONE : this.models.known(accountId, names);
  }

  /** @throws Refusal `queue_full` when the pool takes no more jobs of anyone. */
  async assertRoom(target: Target): Promise<void> {
    if ((await this.placesIn(target)) < 1) throw poolQueueFull();
  }

  /** How many more jobs may wait in the pool, of all accounts. */
  async placesIn(target: Target): Promise<number> {
    const limit = target.queueLimit ?? this.settings.queueLimitPerPool;
    return limit - (await this.estimates.waiting(target.poolId));
  }
}

function idsOf(places: readonly AssetPlace[]): string[] {
  return places.flatMap(({ asset_id: id }) => (id === null ? [] : [id]));
}

/**
 * @returns the ids of the assets that the run of a graph reads, each once.
 * @throws Refusal `invalid_workflow`, `missing_asset` when something is not among what was found.
 */
export function inputAssetsOf({ assets, unlistedModels }: References, found: FoundReferences): string[] {
  const lacking = unlistedModels.filter(({ name }) => !found.models.has(name));
  if (lacking.length > 0) throw refusalOfModels(lacking);
  const { named, mentioned, malformed, malformedCount } = assets;
  const missing = [...named, ...mentioned].filter(({ asset_id: id }) => id === null || !found.assets.has(id));
  if (malformedCount === 0 && missing.length === 0) return idsOf(named);
  throw missingAssets([...malformed, ...missing], malformedCount - malformed.length);
}
