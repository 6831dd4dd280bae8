import { ConstraintError, type Database } from '@millrace/database';
import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import type { IdleQueue, IdleQueueStore } from './idle-queue.store';

const BATCH = 500;

/** Deletes an account's place in the rotation of a pool once no job of it is kept there. The next one makes it again. */
export class SweepAccountQueuesLoop implements Loop {
  readonly name = 'sweep-account-queues';
  readonly everyMs = 3_600_000;
  private readonly sweep: ItemSweep<IdleQueue>;

  constructor(
    private readonly database: Database,
    private readonly queues: IdleQueueStore,
  ) {
    this.sweep = new ItemSweep({
      limit: BATCH,
      page: (after, limit) => this.queues.list(this.database, after, limit),
      keyOf: ({ turn }) => turn,
      work: (queue) => this.forget(queue),
    });
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }

  /** @returns false when it is in use again. */
  private async forget(queue: IdleQueue): Promise<boolean> {
    try {
      return await this.queues.forget(this.database, queue);
    } catch (error) {
      if (error instanceof ConstraintError && error.kind === 'foreign_key') return false;
      throw error;
    }
  }
}
