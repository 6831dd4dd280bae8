import { creditsText } from '@millrace/billing';
import { Refusal } from '@millrace/contracts';

/** How the reasons begin with which a statement refuses itself for a rule of a label; JSON follows. */
export const LABEL_JOBS = 'label_limit:';
export const LABEL_SPEND = 'label_spend_limit:';

/** Of jobs that have not ended; they run for seconds to hours. */
const RETRY_SECONDS = 5;

interface Excess {
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

function tooMuchSpent({ label, value, limit, most }: Excess): Refusal {
  const span = limit === 'daily_micros' ? 'day' : 'month';
  const message =
    `This account allows jobs with the label ${label}=${value} to cost ${creditsText(BigInt(most))} credits a ${span} (${limit}), and what they were ` +
    `charged and hold leaves less than this needs. Wait until others have ended, or for the next ${span} (UTC), or raise the limit.`;
  return new Refusal('label_spend_limit', message, { details: { label, value, limit, most } });
}

function excessOf(reason: string, prefix: string): Excess {
  return JSON.parse(reason.slice(prefix.length)) as Excess;
}
