import {
  isTerminal,
  type AttemptCharge,
  type AttemptOutcome,
  type JobStatus,
  type RetryPolicy,
} from '@millrace/contracts';
import type { JobFailure } from '../state';

/** An attempt as it is recorded. */
export interface RecordedAttempt {
  /** From 1. */
  number: number;
  startedAt: Date;
  endedAt: Date | null;
  /** Null while it runs. */
  outcome: AttemptOutcome | null;
  /** Engine time that its worker reported, in milliseconds; null where nobody did. */
  engineMs: number | null;
  /** Why it failed, where it was tried again by policy, or why it was handed back, where its worker had no room for its models. */
  error: JobFailure | null;
  /** Engine time that is billed with it, also for attempts before it, in milliseconds, where it was tried again by policy; null where it was not. */
  billedMs: number | null;
}

/** The retry policy of a job, and how far it is used. */
export interface JobRetries extends RetryPolicy {
  used: number;
  /** Null unless the job pauses. */
  nextAt: Date | null;
}

/** A job's attempts, and what their charge follows from. */
export interface AttemptsRow {
  status: JobStatus;
  error: JobFailure | null;
  hasPrice: boolean;
  /** The job has ended, and is billed for more than the attempts that were tried again by policy. */
  isCharged: boolean;
  retry: JobRetries | null;
  attempts: RecordedAttempt[];
}

/** An attempt as its owner sees it: nothing of the worker that ran it. */
export interface JobAttempt extends Omit<RecordedAttempt, 'billedMs'> {
  /** How it ended, in a sentence for people. */
  message: string;
  /** Null while that is open, and where a job has no price. */
  charge: AttemptCharge | null;
}

/** The attempts of a job in order, each with how it ended and whether it was charged. */
export function describeAttempts(job: AttemptsRow): JobAttempt[] {
  const last = job.attempts.at(-1);
  const charges = chargesOf(job);
  return job.attempts.map((attempt) => ({
    ...attempt,
    message: messageOf(attempt, attempt === last, job.status),
    // The job's error is that of the attempt that ended it.
    error: attempt === last && isTerminal(job.status) && attempt.error === null ? job.error : attempt.error,
    charge: charges.get(attempt) ?? null,
  }));
}

/**
 * Which attempts are charged. Each that was billed when it was tried again was so with what was lost before it and not billed yet, and so is the end
 * of the job (`lifecycle/settlement.ts`): of those that are billed together, the one with the longest engine time is charged, and the others are not.
 *
 * @returns nothing of those of which that is still open, and of none where jobs have no price.
 */
function chargesOf(job: AttemptsRow): Map<RecordedAttempt, AttemptCharge> {
  const charges = new Map<RecordedAttempt, AttemptCharge>();
  if (!job.hasPrice) return charges;
  let together: RecordedAttempt[] = [];
  for (const attempt of job.attempts) {
    together.push(attempt);
    if (attempt.billedMs === null || attempt.billedMs === 0) continue;
    const charged = longestOf(together);
    for (const one of together) charges.set(one, one === charged ? 'charged' : 'not_charged');
    together = [];
  }
  const charged = job.isCharged ? chargedAtEnd(job.status, together) : undefined;
  for (const attempt of together) {
    if (attempt === charged) charges.set(attempt, 'charged');
    else if (isDecided(job.status, attempt)) charges.set(attempt, 'not_charged');
  }
  return charges;
}

/** A graph that succeeds is charged for the attempt that did, and not for what was lost before. */
function chargedAtEnd(status: JobStatus, together: readonly RecordedAttempt[]): RecordedAttempt | undefined {
  return status === 'succeeded' ? together.at(-1) : longestOf(together);
}

/** Without those that were waived. */
function longestOf(together: readonly RecordedAttempt[]): RecordedAttempt | undefined {
  return together
    .filter(({ billedMs }) => billedMs !== 0)
    .reduce<RecordedAttempt | undefined>(
      (longest, attempt) => ((attempt.engineMs ?? 0) >= (longest?.engineMs ?? 0) ? attempt : longest),
      undefined,
    );
}

/** Whether it is known that an attempt is not charged: a lost engine is billed only when the job ends in another way than it should. */
function isDecided(status: JobStatus, { outcome, engineMs, billedMs }: RecordedAttempt): boolean {
  return outcome !== null && (billedMs !== null || isTerminal(status) || engineMs === null);
}

/** By the policy of the job. */
function wasRetried({ billedMs }: RecordedAttempt): boolean {
  return billedMs !== null;
}

function messageOf(attempt: RecordedAttempt, isLast: boolean, status: JobStatus): string {
  const { outcome, engineMs } = attempt;
  const isOver = isLast && isTerminal(status);
  const next = wasRetried(attempt) ? 'It is tried again by the retry policy.' : 'The job was given to another worker.';
  const after = isOver ? 'No further attempt was made.' : next;
  if (outcome === 'lost') return `${engineMs === null ? 'The worker was lost.' : 'The engine ended or hung.'} ${after}`;
  if (outcome === 'handed_back') {
    const why =
      attempt.error === null ? 'was stopped and handed the job back' : 'had no room for the models of the job';
    return `The worker ${why}. ${after}`;
  }
  if (outcome === 'failed')
    return wasRetried(attempt) ? `The attempt failed. ${after}` : 'The attempt failed, and the job with it.';
  if (outcome === 'canceled') return 'The job was canceled.';
  if (outcome === 'expired') return 'The job reached its deadline.';
  if (outcome === 'succeeded') return 'The graph ran to its end.';
  return 'A worker runs the graph.';
}
