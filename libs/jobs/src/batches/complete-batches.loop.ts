import type { Statements } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import { recordEnds } from './batch-end.store';

const BATCH = 200;

/** Records the ends of batches whose jobs have all ended, with the messages of them. */
export class CompleteBatchesLoop implements Loop {
  readonly name = 'complete-batches';
  readonly everyMs = 1_000;

  constructor(private readonly database: Statements) {}

  runOnce(): Promise<number> {
    return recordEnds(this.database, BATCH);
  }
}
