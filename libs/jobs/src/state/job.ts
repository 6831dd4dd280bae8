import type {
  JobError,
  JobErrorCode,
  JobMetadata,
  JobStatus,
  OutputType,
  Progress,
  SurfaceKind,
} from '@millrace/contracts';
import type { Delivery } from './job-state';

/** The surface that a job was made on, and is found on: no other shows it. */
export interface JobPlace {
  accountId: string;
  surface: SurfaceKind;
  /** Set exactly on the surface `deployment`. */
  deploymentId: string | null;
}

/** Which jobs a caller finds: those of a place, and of them, if labels are named, those that have these labels. */
export interface JobScope extends JobPlace {
  /** Of the sub-key that asks; null: all jobs of the place. */
  labels: JobMetadata | null;
}

/** A text for each scope: what was read for one is shown in no other. */
export function scopeText({ accountId, surface, deploymentId, labels }: JobScope): string {
  return JSON.stringify([accountId, surface, deploymentId, labels && Object.entries(labels).sort()]);
}

/** A job as it is read: the row, and what belongs to it. */
export interface JobRecord extends JobPlace {
  id: string;
  poolId: string;
  status: JobStatus;
  delivery: Delivery;
  attempt: number;
  /** Number of the latest transition. */
  seq: number;
  createdAt: Date;
  startedAt: Date | null;
  completedAt: Date | null;
  deadlineAt: Date;
  expiresAt: Date;
  updatedAt: Date;
  progress: Progress | null;
  error: JobError | null;
  metadata: JobMetadata;
  /** Micro-credits charged; null until the job has ended. */
  chargedMicros: number | null;
  /** Nodes that the engine had in its cache; null until the job has ended, and where no worker reported them. */
  cachedNodes: number | null;
  /** It did not run: it was answered with the outputs of an earlier one. */
  isReused: boolean;
  /** The job that ran and made these outputs; null when this one runs, or ran, itself, and when the scope does not find that job. */
  reusedFrom: string | null;
  outputs: JobOutputRecord[];
  /** Present where it was asked for and captured. */
  logs: JobLogRecord | null;
}

export interface JobOutputRecord {
  nodeId: string;
  ordinal: number;
  name: string;
  type: OutputType;
  assetId: string;
  contentType: string;
  sizeBytes: number;
  hash: string;
}

/** The tail of what a run printed. */
export interface JobLog {
  text: string;
  /** Something before `text` was left out. */
  truncated: boolean;
}

/** A log as it is kept. */
export interface JobLogRecord extends JobLog {
  /** False when it was kept while the run went on, and its worker never reported the rest. */
  complete: boolean;
  capturedAt: Date;
}

/** One move of a job's status. */
export interface JobTransitionRecord {
  seq: number;
  status: JobStatus;
  at: Date;
}

/** A job after a statement that moved it. */
export interface MovedJob {
  id: string;
  accountId: string;
  poolId: string;
  from: JobStatus;
  status: JobStatus;
  seq: number;
  attempt: number;
  workerId: string | null;
  /** Micro-credits; null until the job has ended. */
  chargedMicros: bigint | null;
  /** Whether credentials were handed over for it. */
  hasSecrets: boolean;
  /** The code of its error; null unless it failed or expired. */
  errorCode: string | null;
}

/** The right to run one attempt of a job. A statement of a worker names all three, and changes nothing if one is wrong. */
export interface Fence {
  jobId: string;
  attempt: number;
  leaseToken: string;
}

/** What a worker gets with a claim: everything one attempt needs. */
export interface ClaimedAttempt extends Fence {
  accountId: string;
  poolId: string;
  status: JobStatus;
  workflow: string;
  deadlineAt: Date;
  hasSecrets: boolean;
  /** Files of weights that it loads. */
  models: string[];
  progress: Progress | null;
  traceparent: string | null;
  /** Logs are kept of jobs of deployments alone. */
  keepsLogs: boolean;
  /** What is held for it does not pay for the time until the first heartbeat. */
  isHoldShort: boolean;
  /** How long its lease lasts, where a gateway says so; absent: as the settings of its worker say. */
  leaseSeconds?: number | undefined;
}

/** Why a job failed; `code` and the rest are shown to its owner. */
export type JobFailure = JobError & { code: JobErrorCode };

/** Why a worker has no room for the models of its attempt. */
export interface RoomLack {
  /** A sentence for the owner of the job: it names the models and their sizes. */
  message: string;
  /** What all models of the attempt take together. */
  neededBytes: number;
  /** The first node that names one of them; null where that is not known. */
  nodeId: string | null;
  /** What is in use takes the room, and will give it back. */
  isPassing: boolean;
}

/** Time of one node within an attempt. */
export interface NodeTiming {
  nodeId: string;
  classType: string;
  state: 'done' | 'cached' | 'running' | 'failed';
  /** Milliseconds from its start to its end; null when it never ended. */
  ms: number | null;
}
