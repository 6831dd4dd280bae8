import { creditsText } from '@millrace/billing';
import { Refusal } from '@millrace/contracts';

/** How the reasons begin with which a statement refuses itself for a rule of a label; JSON follows. */
export const LABEL_JOBS = 'label_limit:';
export const LABEL_SPEND = 'label_spend_limit:';

/** What caps of an account and of its keys are rules of: no job can have such a label, for its name. */
export const ACCOUNT_LABEL = '@account';
export const KEY_LABEL = '@key';

/** Of jobs that have not ended; they run for seconds to hours. */
const RETRY_SECONDS = 5;

export interface Excess {
  label: string;
  value: string;
  limit: 'max_jobs' | 'daily_micros' | 'monthly_micros';
  most: number;
}

/** What such a reason means to its caller: it names the label, the limit and the cure. Null for another reason. */
export function labelRefusal(reason: string): Refusal | null {
  if (reason.startsWith(LABEL_JOBS)) return tooManyJobs(excessOf(reason, LABEL_JOBS));
  return reason.startsWith(LABEL_SPEND) ? tooMuchSpent(excessOf(reason, LABEL_SPEND)) : null;
}

/** The reason with which a statement would refuse itself. */
export function reasonOf(
  { label, value }: Pick<Excess, 'label' | 'value'>,
  limit: Excess['limit'],
  most: number,
): string {
  return (limit === 'max_jobs' ? LABEL_JOBS : LABEL_SPEND) + JSON.stringify({ label, value, limit, most });
}

function tooManyJobs({ label, value, limit, most }: Excess): Refusal {
  const message =
    `This account allows jobs with the label ${label}=${value} ${most} at a time, which have not ended (${limit}). Wait until one has ` +
    'ended and send the same request again, or raise the limit.';
  const details = { label, value, limit, most };
  return new Refusal('label_limit', message, { details, retryAfterSeconds: RETRY_SECONDS });
}

/** The cap that such a reason names; null where it is another one. */
export function capOf(reason: string): Excess | null {
  return reason.startsWith(LABEL_SPEND) ? excessOf(reason, LABEL_SPEND) : null;
}

function tooMuchSpent({ label, value, limit, most }: Excess): Refusal {
  const span = limit === 'daily_micros' ? 'day' : 'month';
  if (label === ACCOUNT_LABEL || label === KEY_LABEL)
    return beyondCap(label === KEY_LABEL ? 'key' : 'account', span, limit);
  const message =
    `This account allows jobs with the label ${label}=${value} to cost ${creditsText(BigInt(most))} credits a ${span} (${limit}), and what they were ` +
    `charged and hold leaves less than this needs. Wait until others have ended, or for the next ${span} (UTC), or raise the limit.`;
  return new Refusal('label_spend_limit', message, { details: { label, value, limit, most } });
}

/** Without amounts: how much an account may spend is for those to know who may read its usage. */
function beyondCap(scope: 'account' | 'key', span: 'day' | 'month', limit: Excess['limit']): Refusal {
  const whose = scope === 'key' ? 'This API key, or one that made it,' : 'This account';
  const message =
    `${whose} has a cap on what its jobs may cost in a ${span}, and what they were charged and hold leaves less than this needs. Wait for the ` +
    `next ${span} (UTC), or raise the cap (${limit}).`;
  return new Refusal('spend_cap', message, { details: { scope, limit } });
}

function excessOf(reason: string, prefix: string): Excess {
  return JSON.parse(reason.slice(prefix.length)) as Excess;
}
