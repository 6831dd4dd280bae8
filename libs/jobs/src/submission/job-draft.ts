import type { AccountSubmissionDefaults, Caller } from '@millrace/accounts';
import type { AssetSettings } from '@millrace/assets';
import type { BillingSettings } from '@millrace/billing';
import type { RetryPolicy } from '@millrace/contracts';
import type { Target } from '@millrace/deployments';
import type { JobSettings } from '../job.settings';
import { withOwnLabels } from '../labels';
import type { JobScope } from '../state';
import type { ExaminedJob } from '../examination';
import type { JobDraft } from './submission';
import { termsOf } from './terms';
import { workKeyOf } from '../examination';

/** Who submits, from where, and on which policy. */
export interface Submitter {
  caller: Caller;
  scope: JobScope;
  traceparent: string | null;
  /** Which failures are tried again; null: none. */
  retry: RetryPolicy | null;
  /** The most that a job may cost, in micro-credits; null: no limit but the account's credits. */
  spendLimitMicros: bigint | null;
}

/** The policy of a submission: what it says itself, else what its account has set. */
export async function retryOf(
  { caller, retry }: { caller: Caller; retry?: RetryPolicy | null | undefined },
  defaults: Pick<AccountSubmissionDefaults, 'of'>,
): Promise<RetryPolicy | null> {
  return retry === undefined ? (await defaults.of(caller.accountId)).retry : retry;
}

/**
 * An examined job as it is to be recorded, without a key, credentials or a batch. The one way to a draft: no job of a sub-key is
 * without its labels.
 *
 * @throws Refusal `metadata_invalid` when it names them otherwise.
 */
export function draftOf(
  { caller, scope, traceparent, retry, spendLimitMicros }: Submitter,
  target: Target,
  job: Omit<ExaminedJob, 'assets' | 'extraData' | 'exact'>,
  inputAssetIds: string[],
  settings: JobSettings & BillingSettings & Pick<AssetSettings, 'storageBytesPerAccount'>,
): JobDraft {
  const { workflow, nodeCount, metadata, models } = job;
  const { limits } = caller;
  return {
    accountId: scope.accountId,
    surface: scope.surface,
    deploymentId: scope.deploymentId,
    ...termsOf(caller, scope, target, settings),
    id: null,
    apiKeyId: caller.apiKeyId,
    subKeyId: scope.labels === null ? null : caller.apiKeyId,
    poolId: target.poolId,
    workflow,
    nodeCount,
    workKey: workKeyOf(scope.accountId, target.poolId, job.work),
    reuseKey: null,
    inputAssetIds,
    metadata: withOwnLabels(scope.labels, metadata),
    idempotencyKey: null,
    weight: limits.weight,
    runningLimit: limits.runningLimit ?? settings.runningLimitPerAccount,
    retentionSeconds: Math.min(settings.jobRetentionSeconds, caller.retentionSeconds ?? Number.POSITIVE_INFINITY),
    spendLimitMicros,
    hasSecrets: false,
    models,
    libraryModels: [...new Set(job.unlistedModels.map(({ name }) => name))],
    traceparent,
    batch: null,
    retry,
  };
}
