import type { Statements } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import type { WorkerStore } from './worker.store';

const BATCH = 500;
/** A day of starts is enough to estimate the next; a deployment that scales to zero starts often. */
const KEPT_SECONDS = 86_400;

/** Deletes workers that stopped long ago. */
export class SweepStoppedWorkersLoop implements Loop {
  readonly name = 'sweep-stopped-workers';
  readonly everyMs = 600_000;

  constructor(
    private readonly database: Statements,
    private readonly workers: WorkerStore,
  ) {}

  runOnce(): Promise<number> {
    return this.workers.deleteStopped(this.database, KEPT_SECONDS, BATCH);
  }
}
