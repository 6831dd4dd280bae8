import type { DispatchMessage, ModelSource } from '@millrace/contracts';
import type { WarmClaims } from '@millrace/jobs';
import type { PoolRegistry } from './pool-registry';
import type { WorkerParts } from './worker';

/** What a worker takes its messages from. */
export interface Lane {
  /** Take this many at once from now on. */
  setCapacity(capacity: number): void;
  /** Take nothing more; resolves when what was taken is done. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** How a worker takes what waits for it. */
export interface LaneListener {
  /** Resolves when the worker is free for the next message: with the message where it is left to another. Never rejects. */
  take: (message: DispatchMessage) => Promise<DispatchMessage | null>;
  cancel: (jobId: string) => void;
}

/** How a worker reaches its pool: by itself, or through a gateway. */
export interface PoolAccess {
  pool: string;
  /** What every worker of the service goes by. */
  terms: { leaseSeconds: number; maxOutputsPerJob: number; logTailBytes: number };
  registry: PoolRegistry;
  claims: Pick<WarmClaims, 'take'>;
  recordsOf: WorkerParts['recordsOf'];
  /** Where models of the library are read; null where they cannot be read. */
  modelSource: ModelSource | null;
  openLane: (listener: LaneListener) => Lane;
  /** Rejects with the reason while nothing could be recorded. */
  assertInReach: () => Promise<void>;
}
