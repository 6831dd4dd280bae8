import type { AccountSubmissionDefaults } from '@millrace/accounts';
import type { AssetService } from '@millrace/assets';
import type { Reuse } from '@millrace/contracts';
import { RefusedError, type Statements } from '@millrace/database';
import type { Metrics } from '@millrace/platform';
import type { ExactWork } from '@millrace/workflow';
import type { JobRecord } from '../state';
import { reuseKeyOf, type ReusePlace } from './reuse-key';
import { REUSE_GONE, type ReusedDraft, type ReuseSource, type ReuseStore } from './reuse.store';

/** Whether a submission that asked for it is answered with earlier outputs. */
export interface ReuseOutcome {
  /** The job that ran, or for a sub-key that does not find it a later one with its outputs; null when this one runs itself. */
  reusedFrom: string | null;
  /** Why it runs; null when it does not. */
  reason: string | null;
}

/** What was found for a submission. */
export interface ReuseSearch {
  /** To be recorded with the job, so that later ones find it; null where none may. */
  key: Buffer | null;
  /** The job whose outputs are there to be reused. */
  source: ReuseSource | null;
  outcome: ReuseOutcome;
}

const NO_EARLIER_JOB = 'No earlier job asked for exactly the same, has succeeded, and is still kept.';

/** Finds earlier outputs that answer a submission, and records the job that they answer. */
export class JobReuse {
  constructor(
    private readonly database: Statements,
    private readonly store: Pick<ReuseStore, 'find' | 'record'>,
    private readonly assets: Pick<AssetService, 'contentsForJob'>,
    private readonly defaults: Pick<AccountSubmissionDefaults, 'of'>,
    private readonly metrics: Pick<Metrics, 'jobsReused'>,
  ) {}

  /** What a submission says itself, else what its account has set. */
  async isWanted(accountId: string, reuse: Reuse | null | undefined): Promise<boolean> {
    return (reuse === undefined ? (await this.defaults.of(accountId)).reuse : reuse) === 'exact';
  }

  /** @returns null where the submission did not ask for it. */
  async search(place: ReusePlace, exact: ExactWork | null): Promise<ReuseSearch | null> {
    if (exact === null) return null;
    if ('reason' in exact) return { key: null, source: null, outcome: { reusedFrom: null, reason: exact.reason } };
    const { accountId } = place.scope;
    const contents = await this.assets.contentsForJob(accountId, [...new Set(exact.assetIds)]);
    const inputs = exact.assetIds.flatMap((id) => contents.get(id) ?? []);
    // One that went meanwhile: the statement that records the job refuses it.
    if (inputs.length < exact.assetIds.length) return { key: null, source: null, outcome: notFound() };
    const key = reuseKeyOf(place, exact.digest, inputs);
    const source = await this.store.find(this.database, place.scope, key);
    if (source === null) return { key, source, outcome: notFound() };
    return { key, source, outcome: { reusedFrom: source.reusedFrom ?? source.id, reason: null } };
  }

  /**
   * Record a job as succeeded with the outputs of an earlier one.
   *
   * @returns null when that went meanwhile: nothing was recorded, and the job is to run.
   * @throws RefusedError KEY_REUSED.
   */
  async record(draft: ReusedDraft, source: ReuseSource): Promise<JobRecord | null> {
    try {
      const recorded = await this.store.record(this.database, draft, source.id);
      this.metrics.jobsReused.inc({ pool: draft.poolId });
      return {
        ...recorded,
        accountId: draft.accountId,
        surface: draft.surface,
        deploymentId: draft.deploymentId,
        poolId: draft.poolId,
        status: 'succeeded',
        delivery: 'done',
        attempt: 0,
        seq: 2,
        startedAt: null,
        completedAt: recorded.createdAt,
        updatedAt: recorded.createdAt,
        progress: null,
        error: null,
        metadata: draft.metadata,
        chargedMicros: 0,
        cachedNodes: null,
        isReused: true,
        reusedFrom: source.reusedFrom,
        logs: null,
      };
    } catch (error) {
      if (error instanceof RefusedError && error.reason === REUSE_GONE) return null;
      throw error;
    }
  }
}

/** Of a submission whose earlier outputs are not there, or went meanwhile. */
export function notFound(): ReuseOutcome {
  return { reusedFrom: null, reason: NO_EARLIER_JOB };
}
