import { isTerminal, type JobStatus } from '@millrace/contracts';

/** How a call came out for its client: it succeeded, it was refused (4xx), or nobody knows. */
export type Outcome = 'ok' | 'refused' | 'unknown';

/** One try of a submission, as its client saw it. */
export interface SubmissionTry {
  outcome: Outcome;
  /** Code of a refusal. */
  code: string | null;
  jobId: string | null;
}

/** A submission and every try of it. */
export interface SubmissionHistory {
  /** In the job's metadata: finds what the service made of it. */
  label: string;
  accountId: string;
  key: string | null;
  tries: SubmissionTry[];
}

/** A batch, and what it was answered as. */
export interface BatchHistory {
  key: string;
  accountId: string;
  /** Jobs that were asked for. */
  size: number;
  ids: Set<string>;
}

/** What was seen of one job, over all requests of its client, in order. */
interface Sighting {
  status: JobStatus;
  /** Latest progress within the present connection, and Redis losses by then. */
  value: number;
  redisLosses: number;
  cancelAccepted: boolean;
}

const RANK: Record<JobStatus, number> = {
  queued: 0,
  running: 1,
  canceling: 2,
  succeeded: 3,
  canceled: 3,
  failed: 3,
  expired: 3,
};

/** What clients asked and what they were answered, to be compared with the database. */
export class History {
  readonly submissions: SubmissionHistory[] = [];
  readonly batches: BatchHistory[] = [];
  /** Uploads by asset id, with the hash that was answered. */
  readonly uploads = new Map<string, { accountId: string; hash: string }>();
  /** What a client saw that must not be seen. */
  readonly breaches: { check: string; subject: string; detail: string }[] = [];
  readonly counts: Record<Outcome, number> = { ok: 0, refused: 0, unknown: 0 };
  private readonly sightings = new Map<string, Sighting>();
  /** How often Redis could not deliver events: what a client sees without it is as old as the last heartbeat. */
  redisLosses = 0;

  submission(label: string, accountId: string, key: string | null): SubmissionHistory {
    const made: SubmissionHistory = { label, accountId, key, tries: [] };
    this.submissions.push(made);
    return made;
  }

  batch(key: string, accountId: string, size: number): BatchHistory {
    const made: BatchHistory = { key, accountId, size, ids: new Set() };
    this.batches.push(made);
    return made;
  }

  breach(check: string, subject: string, detail: string): void {
    this.breaches.push({ check, subject, detail });
  }

  /** A job as a client has just seen it. Its own requests come one after the other, so nothing may go backwards. */
  saw(jobId: string, status: JobStatus, value: number | null): void {
    const before = this.sightings.get(jobId);
    if (before !== undefined) {
      const back = RANK[status] < RANK[before.status] || (isTerminal(before.status) && status !== before.status);
      if (back) this.breach('status-never-goes-back', jobId, `was seen ${before.status} and then ${status}`);
      const sameRedis = before.redisLosses === this.redisLosses;
      if (value !== null && value < before.value - 1e-9 && sameRedis && !isTerminal(status)) {
        this.breach('progress-never-goes-back', jobId, `was seen at ${before.value} and then at ${value}`);
      }
      if (before.cancelAccepted && (status === 'succeeded' || status === 'failed')) {
        this.breach('accepted-cancel-ends-canceled', jobId, `was canceling and ended ${status}`);
      }
    }
    this.sightings.set(jobId, {
      status,
      value: value ?? before?.value ?? 0,
      redisLosses: this.redisLosses,
      cancelAccepted: (before?.cancelAccepted ?? false) || status === 'canceling',
    });
  }

  /** The last that was seen of every job. */
  lastSeen(): Map<string, JobStatus> {
    return new Map([...this.sightings].map(([jobId, { status }]) => [jobId, status]));
  }
}
