import { isTerminal, type JobStatus, type WaitingReason } from '@millrace/contracts';
import type { Delivery } from '../state';

/** A row with all facts from which `waitingOf` decides why a job waits. */
export interface JobStandingRow {
  id: string;
  status: JobStatus;
  delivery: Delivery;
  /** Workers that have room for its models are busy. */
  isSetAside: boolean;
  /** When its pause before another attempt is over. */
  retryAt: Date | null;
  /** Jobs of its account that run in its pool or are about to, and how many may. */
  inFlight: number;
  runningLimit: number;
  /** It was sent to a deployment, which is stopped. */
  isStopped: boolean;
  readyWorkers: number;
  /** Workers of its pool are wanted that are not ready yet, or one is starting. */
  isStarting: boolean;
  /** Why they are not ready, for whom the deployment belongs to; null where that is not known. */
  startingNote: string | null;
}

/** Why a job waits. */
export interface Waiting {
  code: WaitingReason;
  /** In a sentence for people. */
  message: string;
}

/** Where a job stands. */
export interface JobStandingNow {
  id: string;
  status: JobStatus;
  /** Null while it does not wait. */
  waiting: Waiting | null;
}

/**
 * Why a job waits: the first of what would keep it from running, so that the cure of one shows the next. The reason of a fleet is shown to
 * those alone who see the deployment.
 */
export function waitingOf(row: JobStandingRow, seesDeployment: boolean): Waiting | null {
  const { status, delivery, retryAt, inFlight, runningLimit } = row;
  if (isTerminal(status) || status === 'canceling' || delivery === 'leased') return null;
  if (delivery === 'paused') {
    const until = retryAt === null ? '' : ` until ${retryAt.toISOString()}`;
    return { code: 'retry_pause', message: `It pauses${until} before its next attempt, as its retry policy says.` };
  }
  if (row.isStopped)
    return { code: 'deployment_stopped', message: 'Its deployment is stopped; it runs when that is started.' };
  if (row.readyWorkers === 0) return withoutWorkers(row, seesDeployment);
  if (row.isSetAside)
    return {
      code: 'workers_without_room',
      message: 'The workers that have room for its models are busy with other jobs.',
    };
  if (delivery === 'waiting' && inFlight >= runningLimit) {
    const jobs = runningLimit === 1 ? '1 job' : `${runningLimit} jobs`;
    return { code: 'running_limit', message: `The account runs ${jobs} at a time here, and that many run already.` };
  }
  const next = delivery === 'dispatched' ? 'It is among the next.' : 'It waits for its turn.';
  return { code: 'workers_busy', message: `The workers are busy with other jobs. ${next}` };
}

function withoutWorkers({ isStarting, startingNote }: JobStandingRow, seesDeployment: boolean): Waiting {
  if (!isStarting) return { code: 'no_workers', message: 'No worker is there to run it.' };
  const why = startingNote === null || !seesDeployment ? '' : `: ${startingNote}`;
  return { code: 'workers_starting', message: `No worker is ready yet${why}${/[.!?]$/.test(why) ? '' : '.'}` };
}
