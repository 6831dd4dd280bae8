import type { Statements } from '@millrace/database';
import type { ReadBatches } from '@millrace/webhooks';
import type { BatchRecord } from './batch';
import { presentBatch } from './batch.presenter';
import type { BatchStore } from './batch.store';

/** Reads batches for messages to their accounts: as a poll answers them. */
export class WebhookBatches {
  constructor(
    private readonly database: Statements,
    private readonly store: Pick<BatchStore, 'findOfAccount'>,
  ) {}

  readonly read: ReadBatches = async (asked) => {
    const shown: (object | null)[] = [];
    // One at a time: the counts of a batch of 10,000 jobs take some 20 ms of the database.
    for (const { accountId, batchId } of asked) {
      const batch = await this.store.findOfAccount(this.database, accountId, batchId);
      shown.push(batch === null ? null : presentBatch({ prefix: prefixOf(batch) }, batch));
    }
    return shown;
  };
}

function prefixOf({ deploymentId }: BatchRecord): string {
  return deploymentId === null ? '' : `/deployment/${deploymentId}`;
}
