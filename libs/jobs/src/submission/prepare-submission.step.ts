import type { AssetSettings } from '@millrace/assets';
import type { BillingSettings } from '@millrace/billing';
import type { Target } from '@millrace/deployments';
import type { ExaminedJob } from '../examination';
import type { JobSettings } from '../job.settings';
import type { JobReuse, ReuseSearch } from '../reuse';
import { draftOf, type Submitter } from './job-draft';
import { assertWithinSpendLimit, type SubmittedBefore } from './refusals';
import type { JobDraft } from './submission';
import type { SubmissionChecks } from './submission-checks';

/** A submission of which all was looked up that does not depend on whether it runs. */
export interface PreparedSubmission {
  draft: JobDraft;
  /** Null where it did not ask for earlier outputs. */
  search: ReuseSearch | null;
}

/** What looks it up. */
export interface Preparation {
  checks: Pick<SubmissionChecks, 'inputAssets'>;
  reuse: Pick<JobReuse, 'search'>;
  settings: JobSettings & BillingSettings & Pick<AssetSettings, 'storageBytesPerAccount'>;
}

/**
 * Look up what an examined job needs, and whether earlier outputs answer it. Submissions and their estimates both do it here, so that
 * they refuse the same for the same reason.
 *
 * @throws Refusal in this order: `invalid_workflow` and `missing_asset` as `SubmissionChecks.inputAssets`, `metadata_invalid` as `draftOf`.
 */
export async function prepareSubmission(
  { checks, reuse, settings }: Preparation,
  submitter: Submitter,
  target: Target,
  job: ExaminedJob,
): Promise<PreparedSubmission> {
  const { scope } = submitter;
  const inputAssetIds = await checks.inputAssets(scope, job);
  const draft = draftOf(submitter, target, job, inputAssetIds, settings);
  return { draft, search: await reuse.search({ ...target, scope }, job.exact) };
}

/**
 * What is asked of a job only if it runs, before the statement that records it.
 *
 * @param said by which field the caller said its spend limit, or what has it from before; absent: by the header of the API.
 * @throws Refusal in this order: `queue_full` for the pool, `invalid_request` when its hold is beyond its spend limit.
 */
export async function assertMayRun(
  checks: Pick<SubmissionChecks, 'assertRoom'>,
  draft: JobDraft,
  target: Target,
  said?: string | SubmittedBefore,
): Promise<void> {
  await checks.assertRoom(target);
  assertWithinSpendLimit(draft, said);
}
