import type { Statements } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import type { WorkerStore } from './worker.store';

const BATCH = 500;
/** A day of starts is plenty to know what a start takes; a deployment that scales to nothing starts often. */
const KEPT_SECONDS = 86_400;

/** Forgets workers that stopped long ago. */
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
