import { creditsText } from '@millrace/billing';
import { Refusal } from '@millrace/contracts';
import type { AssetPlace } from './examine-submission.step';

const QUEUE_RETRY_SECONDS = 2;

export function keyReused(): Refusal {
  return new Refusal(
    'idempotency_key_reuse',
    'This Idempotency-Key was used before. The request was not executed; look for the first one among your jobs.',
  );
}

export function insufficientCredits(requiredMicros: bigint, availableMicros: bigint): Refusal {
  const message =
    `Running this job needs ${creditsText(requiredMicros)} credits set aside, and ${creditsText(availableMicros)} are ` +
    'available. Add credits, or wait until running jobs give back what they hold and do not use.';
  const details = { required_micros: Number(requiredMicros), available_micros: Number(availableMicros) };
  return new Refusal('insufficient_credits', message, { details });
}

/** The jobs of all accounts fill the queue of a pool. */
export function poolQueueFull(): Refusal {
  return queueFull('The queue of this service is full.');
}

/** @param limit jobs of the account that may wait. */
export function accountQueueFull(limit: number): Refusal {
  return queueFull(`This account has ${limit} jobs waiting, which is its limit.`);
}

function queueFull(message: string): Refusal {
  return new Refusal('queue_full', `${message} Wait and send the same request again.`, {
    retryAfterSeconds: QUEUE_RETRY_SECONDS,
  });
}

/** @param leftOut how many more there are. */
export function missingAssets(references: AssetPlace[], leftOut = 0): Refusal {
  const named = references.slice(0, 3).map((reference) => {
    const what = reference.asset_id === null ? 'an asset reference without an id' : `asset ${reference.asset_id}`;
    return `node ${reference.node_id}, ${reference.field}: ${what}`;
  });
  const message = `The workflow refers to assets that do not exist or are not yours${named.length > 0 ? `: ${named.join('; ')}` : ''}.`;
  const details = leftOut === 0 ? { references } : { references, left_out: { references: leftOut } };
  return new Refusal('missing_asset', message, { details });
}
