import type { Loop } from '@millrace/platform';
import type { Statements } from '@millrace/database';
import type { WorkerStore } from './worker.store';

const BATCH = 100;
/** Long after such a worker stopped to count towards capacity; this only tidies the list that operators read. */
const SILENT_SECONDS = 60;

/** Marks workers `stopped` that went without reporting it. */
export class RetireSilentWorkersLoop implements Loop {
  readonly name = 'retire-silent-workers';
  readonly everyMs = 15_000;

  constructor(
    private readonly database: Statements,
    private readonly workers: WorkerStore,
  ) {}

  runOnce(): Promise<number> {
    return this.workers.retireSilent(this.database, SILENT_SECONDS, BATCH);
  }
}
