import { ACCOUNT_CLOSED, SUB_KEY_REVOKED, accountClosed, subKeyRevoked } from '@millrace/accounts';
import { STORAGE_FULL, storageFull } from '@millrace/assets';
import { creditsText } from '@millrace/billing';
import { Refusal, type JobMetadata } from '@millrace/contracts';
import { KEY_REUSED, RefusedError } from '@millrace/database';
import { DEPLOYMENT_DELETED, DEPLOYMENT_DELETING, deploymentDeleting, noDeployment } from '@millrace/deployments';
import { labelRefusal } from '../labels';
import { QUEUE_FULL } from '../rotation';
import type { AssetPlace } from '../examination';
import type { JobDraft } from './submission';

const QUEUE_RETRY_SECONDS = 2;
const SPEND_LIMIT_HEADER = 'Millrace-Spend-Limit-Micros';
const NO_ID = 'an asset reference whose id is missing or no UUID';

/**
 * The key of a submission was used (contract, 4.1).
 *
 * @param unlisted the surface lists no jobs: it is a demo deployment.
 */
export function keyReused(unlisted = false): Refusal {
  const cure = unlisted
    ? 'A demo deployment lists no jobs: read the first one by its id, or use a new key, under which another job runs.'
    : 'Look for the first one among your jobs, or use a new key for another job.';
  return new Refusal(KEY_REUSED, `This Idempotency-Key was used before. The request was not executed. ${cure}`);
}

/** The key of a batch names another one (docs/batches.md). */
export function keyOfAnotherBatch(): Refusal {
  const message =
    'This Idempotency-Key was used for a batch with another body or other headers, or on another surface. Nothing was recorded. ' +
    'Look for it among your batches, or use a new key for another batch.';
  return new Refusal(KEY_REUSED, message);
}

/** The key of a retry of a batch names another one. */
export function keyOfAnotherRetry(): Refusal {
  const message =
    'This Idempotency-Key was used for another retry of this batch. Nothing was done. Use a new key for this one.';
  return new Refusal(KEY_REUSED, message);
}

/**
 * A sub-key sees nothing of its account's balance: to it the refusal does not say how much there is.
 *
 * @param labels of the sub-key that asks; null: another key.
 * @param what needs them.
 */
export function insufficientCredits(
  requiredMicros: bigint,
  availableMicros: bigint,
  labels: JobMetadata | null,
  what = 'Running this job needs',
): Refusal {
  const needs = `${what} ${creditsText(requiredMicros)} credits set aside`;
  if (labels !== null) {
    const message = `${needs}, and the account has not so many. Ask who gave you this API key.`;
    return new Refusal('insufficient_credits', message, { details: { required_micros: Number(requiredMicros) } });
  }
  const message =
    `${needs}, and ${creditsText(availableMicros)} are ` +
    'available. Add credits, or wait until running jobs give back what they hold and do not use.';
  const details = { required_micros: Number(requiredMicros), available_micros: Number(availableMicros) };
  return new Refusal('insufficient_credits', message, { details });
}

/** What has a spend limit since it was submitted, and runs again: its request cannot say another one. */
export type SubmittedBefore = { before: 'batch' | 'job' };

/**
 * A job may not hold more than it may cost.
 *
 * @param said the field by which the caller said so, by default the header of the API; or what was submitted with it before.
 * @throws Refusal `invalid_request`, before anything is recorded.
 */
export function assertWithinSpendLimit(
  { holdMicros, spendLimitMicros: limit }: Pick<JobDraft, 'holdMicros' | 'spendLimitMicros'>,
  said: string | SubmittedBefore = SPEND_LIMIT_HEADER,
): void {
  if (limit === null || holdMicros <= limit) return;
  const excess =
    `${limit} (${creditsText(limit)} credits), and a job holds ${holdMicros} micro-credits ` +
    `(${creditsText(holdMicros)} credits) as soon as it is submitted`;
  if (typeof said === 'string') {
    throw Refusal.ofFields([{ field: said, reason: `is ${excess}; what it does not use it gives back` }]);
  }
  const { before } = said;
  const message =
    `The ${before} has a spend limit of ${excess}. What runs again keeps its limit: submit it as a new ${before}, ` +
    `with a higher ${SPEND_LIMIT_HEADER}.`;
  const details = { spend_limit_micros: Number(limit), required_micros: Number(holdMicros) };
  throw new Refusal('invalid_request', message, { details });
}

/** The jobs of all accounts fill the queue of a pool. */
export function poolQueueFull(): Refusal {
  return queueFull('The queue of this service is full.');
}

/** @param limit jobs of the account that may wait for their turn. One that has had it is shown as queued until a worker claims it. */
export function accountQueueFull(limit: number): Refusal {
  const message = `This account has ${limit} jobs waiting for their turn, which is its limit; queued jobs that are next to start do not count.`;
  return queueFull(message);
}

function queueFull(message: string): Refusal {
  return new Refusal('queue_full', `${message} Wait and send the same request again.`, {
    retryAfterSeconds: QUEUE_RETRY_SECONDS,
  });
}

/** @param leftOut how many more there are. */
export function missingAssets(references: AssetPlace[], leftOut = 0): Refusal {
  const named = references.slice(0, 3).map((reference) => {
    const what = reference.asset_id === null ? NO_ID : `asset ${reference.asset_id}`;
    return `node ${reference.node_id}, ${reference.field}: ${what}`;
  });
  const message = `The workflow refers to assets that do not exist or are not yours: ${named.join('; ')}.`;
  const details = leftOut === 0 ? { references } : { references, left_out: { references: leftOut } };
  return new Refusal('missing_asset', message, { details });
}

/**
 * What a refusal by the statement that records a job means to its caller; every other error as it is, and that a model or an asset is gone: what
 * misses it when it looks again has its place in the graph.
 */
export function refusalOf(
  error: unknown,
  draft: Pick<JobDraft, 'storageBytes' | 'queueLimit' | 'deploymentId'>,
): unknown {
  if (error instanceof RefusedError) {
    if (error.reason === KEY_REUSED) return keyReused();
    if (error.reason === ACCOUNT_CLOSED) return accountClosed();
    if (error.reason === SUB_KEY_REVOKED) return subKeyRevoked();
    if (error.reason === DEPLOYMENT_DELETING) return deploymentDeleting();
    if (error.reason === DEPLOYMENT_DELETED && draft.deploymentId !== null) return noDeployment(draft.deploymentId);
    if (error.reason === STORAGE_FULL) return storageFull(draft.storageBytes);
    if (error.reason === QUEUE_FULL) return accountQueueFull(draft.queueLimit);
    return labelRefusal(error.reason) ?? error;
  }
  return error;
}
