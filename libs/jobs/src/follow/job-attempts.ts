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
  /** Engine time that is billed of it, in milliseconds, where it was tried again by policy; null where it was not. */
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
  const charged = chargedAttempt(job);
  return job.attempts.map((attempt) => ({
    ...attempt,
    message: messageOf(attempt, attempt === last, job.status),
    // The job's error is that of the attempt that ended it.
    error: attempt === last && isTerminal(job.status) && attempt.error === null ? job.error : attempt.error,
    charge: chargeOf(job, attempt, charged),
  }));
}

/**
 * The attempt that the charge of the job is for: the last of one that succeeded; else the one with the longest engine time, because a
 * graph that ended the engine is billed for it (`lifecycle/settlement.ts`).
 */
function chargedAttempt({ status, isCharged, attempts }: AttemptsRow): RecordedAttempt | undefined {
  if (!isCharged) return undefined;
  if (status === 'succeeded') return attempts.at(-1);
  return attempts
    .filter((attempt) => !wasRetried(attempt))
    .reduce<RecordedAttempt | undefined>(
      (longest, attempt) => ((attempt.engineMs ?? 0) >= (longest?.engineMs ?? 0) ? attempt : longest),
      undefined,
    );
}

function chargeOf(
  { hasPrice, status }: AttemptsRow,
  attempt: RecordedAttempt,
  charged: RecordedAttempt | undefined,
): AttemptCharge | null {
  if (!hasPrice || attempt.outcome === null) return null;
  if (attempt.billedMs !== null) return attempt.billedMs > 0 ? 'charged' : 'not_charged';
  if (attempt === charged) return 'charged';
  // A lost engine is billed only when the job ends in another way than it should.
  return isTerminal(status) || attempt.engineMs === null ? 'not_charged' : null;
}

/** By the policy of the job: it was billed by itself. */
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
