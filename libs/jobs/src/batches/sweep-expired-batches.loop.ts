import type { Statements } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import { deleteExpired } from './batch-sweep.store';

const BATCH = 200;

/** Deletes batches past their retention, after their jobs. */
export class SweepExpiredBatchesLoop implements Loop {
  readonly name = 'sweep-expired-batches';
  readonly everyMs = 60_000;

  constructor(private readonly database: Statements) {}

  runOnce(): Promise<number> {
    return deleteExpired(this.database, BATCH);
  }
}
