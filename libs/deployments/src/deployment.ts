import type { DeploymentState, ModelName } from '@millrace/contracts';

/** A deployment as it stands: what was configured, and the state that follows from its workers. */
export interface Deployment {
  id: string;
  accountId: string;
  /** True while its account is suspended: it then serves no one, with a credential or without. */
  ownerSuspended: boolean;
  name: string;
  /** Admits callers without a credential. */
  demo: boolean;
  /** Its number: 1 for the first. */
  version: number;
  /** Submissions that run on this version, in percent of all. */
  weight: number;
  /** The other version that takes jobs; null where there is one alone. */
  beside: Deployment | null;
  /** Of this version. */
  poolId: string;
  engine: string;
  /** What its workers run on, by name. */
  engineClass: string;
  state: DeploymentState;
  /** Ready without a worker: scaled to zero until there is work. */
  idle: boolean;
  /** Workers that are ready and sent a heartbeat lately. */
  readyWorkers: number;
  minWorkers: number;
  maxWorkers: number;
  /** How long workers without work are kept beyond the least, in seconds. */
  idleSeconds: number;
  /** Why its workers, or the models that it names, are not as wanted, for people to read; null where there is nothing to say. */
  stateReason: string | null;
  /** When it was to be deleted: it takes no more jobs, and goes when those that it has are over. */
  deletingAt: Date | null;
  /** When it was deleted: it is found for its jobs alone then. Null while it is there. */
  deletedAt: Date | null;
  /** Null: the price of the platform. */
  priceMicrosPerSecond: bigint | null;
  /** Jobs that may wait in it; null: the platform's limit for a pool. */
  queueLimit: number | null;
  /** How long one attempt of a job may take, in seconds; null: the platform's limit. */
  attemptLimitSeconds: number | null;
  /** A graph in API format that its workers run before they are ready; null: none. */
  warmUp: string | null;
  /** Models of the library that its workers have before they are ready. */
  models: ModelName[];
  /** Null until a worker has published what it can run. */
  catalogueDigest: string | null;
  createdAt: Date;
  /** When an operator last started it; its creation counts. */
  startedAt: Date;
  /** When an operator stopped it; null while it is wanted. */
  stoppedAt: Date | null;
  firstReadyAt: Date | null;
  /** Whole seconds after which a retry may succeed, while it is not ready. */
  retryAfterSeconds: number;
}

/** The fields of a new deployment. */
export interface DeploymentDraft {
  accountId: string;
  name: string;
  demo: boolean;
  engine: 'cpu' | 'comfyui';
  engineClass: string;
  priceMicrosPerSecond: bigint | null;
  queueLimit: number | null;
  attemptLimitSeconds: number | null;
  minWorkers: number;
  maxWorkers: number;
  idleSeconds: number;
  /** Checked by `warmUpText`. */
  warmUp: string | null;
  /** In the library of the account when they were named. */
  models: ModelName[];
}

/** What of a deployment may be another way later. An absent field stays as it is. */
export type DeploymentChanges = Partial<Omit<DeploymentDraft, 'accountId' | 'demo'>>;
