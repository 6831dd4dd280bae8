import type { AttemptOutcome, Progress, TerminalStatus } from '@millrace/contracts';
import type { JobFailure, JobLog, NodeTiming, RoomLack } from '../state';
import { resubmitAdvice, waivedNote, type ReportedEnding, type UnreportedEnding } from './settlement';

/** What is recorded with the end of a job. */
interface EndDetails {
  failure: JobFailure | null;
  progress: Progress | null;
  nodes: NodeTiming[] | null;
  /** Null where no worker reports one. */
  log: JobLog | null;
}

/** How the attempt of a worker came out, and what it reports of it. */
export interface AttemptResult extends EndDetails {
  ending: ReportedEnding;
  /** Engine time used, in milliseconds. Whether it is billed, `SETTLEMENT` says. */
  engineMs: number;
}

/** How a job ends. */
export type JobEnding = AttemptResult | (EndDetails & { ending: UnreportedEnding });

interface Recorded {
  status: TerminalStatus;
  outcome: AttemptOutcome;
  /** For the history: what brought the end about. */
  cause: string;
}

const succeeded: Recorded = { status: 'succeeded', outcome: 'succeeded', cause: 'attempt succeeded' };
const failed: Recorded = { status: 'failed', outcome: 'failed', cause: 'attempt failed' };
const lost: Recorded = { status: 'failed', outcome: 'lost', cause: 'attempts used up' };
const canceled: Recorded = { status: 'canceled', outcome: 'canceled', cause: 'cancel requested' };

/** The status, the outcome of the attempt and the cause that each end is recorded with. */
export const RECORDED_AS: Record<JobEnding['ending'], Recorded> = {
  succeeded,
  node_failed: failed,
  engine_failed: failed,
  input_rejected: failed,
  output_not_stored: failed,
  output_refused: failed,
  engine_lost: { ...lost, cause: 'engine lost every attempt' },
  input_not_staged: failed,
  credentials_lost: failed,
  credits_exhausted: failed,
  overtime: { ...failed, cause: 'time limit of an attempt' },
  canceled_while_running: { ...canceled, cause: 'attempt canceled' },

  canceled_while_queued: canceled,
  canceled_between_attempts: canceled,
  canceled_with_worker_lost: { ...canceled, outcome: 'lost', cause: 'worker lost while canceling' },
  attempts_used_up: lost,
  worker_failed: { ...lost, cause: 'worker failed every attempt' },
  overtime_passed: { ...failed, cause: 'time limit of an attempt' },
  deadline_passed: { status: 'expired', outcome: 'expired', cause: 'execution deadline' },
};

const nothingReported = { progress: null, nodes: null, log: null };

/** The end of a job that its owner canceled, without a worker to report one. */
export function canceledEnding(ending: Extract<UnreportedEnding, `canceled_${string}`>): JobEnding {
  return { ...nothingReported, ending, failure: null };
}

export const attemptsUsedUp: JobEnding = {
  ...nothingReported,
  ending: 'attempts_used_up',
  failure: {
    code: 'worker_lost',
    message: `The worker was lost while it ran this job, and no attempt is left. ${resubmitAdvice('attempts_used_up')}`,
  },
};

/** The end of a job whose models no worker of its pool has room for, or none had for as long as it was tried. */
export function noRoomEnding({ message, nodeId, isPassing }: RoomLack): JobEnding {
  const advice = isPassing
    ? 'Submit the job again.'
    : 'Use smaller models, or submit the job again once there is a worker with more room.';
  const failure: JobFailure = {
    code: 'input_unavailable',
    message: `${message} No other worker that this job can run on has room for them.${waivedNote('input_not_staged')} ${advice}`,
    node_id: nodeId,
  };
  return { ...nothingReported, ending: 'input_not_staged', engineMs: 0, failure };
}

/** How a worker lost an attempt that it still holds. */
export type AttemptLoss =
  /** The engine ended, hung or went away: with `engineMs`, the engine time until then in milliseconds. */
  | { by: 'engine'; reason: string; engineMs: number }
  /** The worker itself failed. */
  | { by: 'worker'; reason: string };

/** The end of a job whose last attempt was lost. The reason is a part of a sentence, for the job's owner. */
export function lostEnding(loss: AttemptLoss): JobEnding {
  const ending = loss.by === 'engine' ? 'engine_lost' : 'worker_failed';
  const reason = loss.reason.replace(/\.$/, '');
  const message = `The engine could not finish this job: ${reason}.${waivedNote(ending)}`;
  const end = { ...nothingReported, failure: { code: 'engine_error', message } } as const;
  return loss.by === 'engine'
    ? { ...end, ending: 'engine_lost', engineMs: loss.engineMs }
    : { ...end, ending: 'worker_failed' };
}

/** Of a job whose attempt took longer than it may. */
export const OVERTIME: JobFailure = {
  code: 'execution_timeout',
  message: 'The run reached the time limit of an attempt and was stopped. Make the workflow smaller, or split it.',
};

export const overtimePassed: JobEnding = { ...nothingReported, ending: 'overtime_passed', failure: OVERTIME };

export const deadlinePassed: JobEnding = {
  ...nothingReported,
  ending: 'deadline_passed',
  failure: { code: 'execution_timeout', message: 'The job did not end before its execution deadline.' },
};
