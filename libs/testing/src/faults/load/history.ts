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

/** What clients check themselves, of what they are answered. */
export const CLIENT_CHECKS = [
  'status-never-goes-back',
  'progress-never-goes-back',
  'stream-never-goes-back',
  'end-is-last',
  'accepted-cancel-ends-canceled',
  'acknowledged-is-found',
  'counts-of-a-batch-agree',
  'answers-are-json',
  'events-are-json',
  'errors-are-envelopes',
] as const;
export type ClientCheck = (typeof CLIENT_CHECKS)[number];

/** What a client saw that must not be seen. */
interface Breach {
  check: ClientCheck;
  subject: string;
  detail: string;
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
  readonly breaches: Breach[] = [];
  /** How often each was checked: on things that could have broken it. */
  readonly checked: Record<ClientCheck, number>;
  /** Jobs that were accepted with the canary. */
  canaries = 0;
  readonly counts: Record<Outcome, number> = { ok: 0, refused: 0, unknown: 0 };
  private readonly sightings = new Map<string, Sighting>();
  /** How often Redis could not deliver events: what a client sees without it is as old as the last heartbeat. */
  redisLosses = 0;

  constructor() {
    this.checked = Object.fromEntries(CLIENT_CHECKS.map((check) => [check, 0])) as Record<ClientCheck, number>;
  }

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

  /** A thing was looked at. @param detail what is wrong with it; null: nothing. */
  look(check: ClientCheck, subject: string, detail: string | null): void {
    this.checked[check] += 1;
    if (detail !== null) this.breaches.push({ check, subject, detail });
  }

  /** What was acknowledged was asked for again. @param status of the answer. */
  found(id: string, status: number): void {
    if (status !== 200 && status !== 404) return;
    this.look('acknowledged-is-found', id, status === 404 ? 'was accepted and is not found' : null);
  }

  /** A job as a client has just seen it. Its own requests come one after the other, so nothing may go backwards. */
  saw(jobId: string, status: JobStatus, value: number | null): void {
    const before = this.sightings.get(jobId);
    if (before !== undefined) this.compare(jobId, before, status, value);
    this.sightings.set(jobId, {
      status,
      value: value ?? before?.value ?? 0,
      redisLosses: this.redisLosses,
      cancelAccepted: (before?.cancelAccepted ?? false) || status === 'canceling' || status === 'canceled',
    });
  }

  private compare(jobId: string, before: Sighting, status: JobStatus, value: number | null): void {
    const back = RANK[status] < RANK[before.status] || (isTerminal(before.status) && status !== before.status);
    this.look('status-never-goes-back', jobId, back ? `was seen ${before.status} and then ${status}` : null);
    if (value !== null && before.redisLosses === this.redisLosses && !isTerminal(status)) {
      const fell = value < before.value - 1e-9;
      this.look('progress-never-goes-back', jobId, fell ? `was seen at ${before.value} and then at ${value}` : null);
    }
    if (before.cancelAccepted && isTerminal(status)) {
      const went = status === 'succeeded' || status === 'failed';
      this.look('accepted-cancel-ends-canceled', jobId, went ? `was ${before.status} and ended ${status}` : null);
    }
  }

  /** The last that was seen of every job. */
  lastSeen(): Map<string, JobStatus> {
    return new Map([...this.sightings].map(([jobId, { status }]) => [jobId, status]));
  }
}
