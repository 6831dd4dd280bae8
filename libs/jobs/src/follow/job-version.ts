import { isTerminal, type JobStatus, type Progress } from '@millrace/contracts';
import type { QueuePlace } from '../rotation';
import type { JobRecord } from '../state';

/**
 * All that may change of what a poll shows of a job. Two polls of a job with equal versions show the same, but for the links of
 * its outputs, which are signed again for each answer.
 */
export interface JobVersion {
  /** Status, times, error and charge change with a transition alone. */
  seq: number;
  /** With the pool, the version of its deployment is another one: a job that waits may move to it. */
  poolId: string;
  /** As shown; see `JobPolls`. */
  progress: Progress | null;
  place: QueuePlace | null;
  /** Assets of the outputs so far, in order; null once the job has ended, after which none comes or goes. */
  outputIds: string[] | null;
  /** To a sub-key it is shown while that job is there, and the key finds it. */
  reusedFrom: string | null;
  /** When the log that is shown was kept, in milliseconds; a worker may report it after another has ended the job. */
  loggedAt: number | null;
}

/** What the versions of a job are made of, as a statement reads it. */
export interface JobFacts {
  seq: number;
  poolId: string;
  status: JobStatus;
  progress: Progress | null;
  outputIds: string[];
  reusedFrom: string | null;
  loggedAt: Date | null;
}

export function versionOf(facts: JobFacts, place: QueuePlace | null): JobVersion {
  const { seq, poolId, status, progress, outputIds, reusedFrom, loggedAt } = facts;
  return {
    seq,
    poolId,
    progress,
    place,
    outputIds: isTerminal(status) ? null : outputIds,
    reusedFrom,
    loggedAt: loggedAt?.getTime() ?? null,
  };
}

/** The facts of a job that was read whole. */
export function factsOf({ seq, poolId, status, progress, outputs, reusedFrom, logs }: JobRecord): JobFacts {
  return {
    seq,
    poolId,
    status,
    progress,
    outputIds: outputs.map((output) => output.assetId),
    reusedFrom,
    loggedAt: logs?.capturedAt ?? null,
  };
}
