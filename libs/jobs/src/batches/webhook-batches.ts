import type { Statements } from '@millrace/database';
import type { ReadBatches } from '@millrace/webhooks';
import type { BatchRecord } from './batch';
import { presentBatch } from './batch.presenter';
import type { BatchStore } from './batch.store';

type Asked = Parameters<ReadBatches>[0][number];

/** Reads batches for messages to their accounts: as a poll answers them. Messages about one batch to several endpoints share what is read of it. */
export class WebhookBatches {
  constructor(
    private readonly database: Statements,
    private readonly store: Pick<BatchStore, 'findOfAccount'>,
  ) {}

  readonly read: ReadBatches = async (asked) => {
    const found = new Map<string, { retries: number; shown: object }>();
    // One at a time: the counts of a batch of 10,000 jobs take some 20 ms of the database.
    for (const { accountId, batchId } of new Map(asked.map((one) => [keyOf(one), one])).values()) {
      const batch = await this.store.findOfAccount(this.database, accountId, batchId);
      if (batch === null) continue;
      const shown = presentBatch({ prefix: prefixOf(batch) }, batch);
      found.set(keyOf({ accountId, batchId }), { retries: batch.retries, shown });
    }
    return asked.map((one) => {
      const batch = found.get(keyOf(one));
      return batch === undefined || (one.retries ?? batch.retries) !== batch.retries ? null : batch.shown;
    });
  };
}

const keyOf = ({ accountId, batchId }: Pick<Asked, 'accountId' | 'batchId'>): string => `${accountId} ${batchId}`;

function prefixOf({ deploymentId }: BatchRecord): string {
  return deploymentId === null ? '' : `/deployment/${deploymentId}`;
}
