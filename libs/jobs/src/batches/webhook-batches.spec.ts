import { newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { BatchRecord } from './batch';
import { WebhookBatches } from './webhook-batches';

const [accountId, other] = [newId(), newId()];
const origin = 'https://api.example.com';

/** Reads batches of an account. */
function readerOf(batch: BatchRecord): { batches: WebhookBatches; asked: string[] } {
  const asked: string[] = [];
  const store = {
    findOfAccount: (_: Statements, account: string, id: string) => {
      asked.push(`${account} ${id}`);
      return Promise.resolve(account === accountId && id === batch.id ? batch : null);
    },
  };
  return { batches: new WebhookBatches({} as Statements, store), asked };
}

const ended = (): BatchRecord => ({
  id: newId(),
  accountId,
  surface: 'cloud',
  deploymentId: null,
  itemCount: 1,
  jobCount: 1,
  refused: [],
  retries: 1,
  createdAt: new Date(0),
  expiresAt: new Date(1),
  counts: { succeeded: 1 },
  chargedMicros: 0,
  ended: 1,
  completedAt: new Date(1),
});

it('a batch is read once, however many endpoints get a message of it', async () => {
  const batch = ended();
  const { batches, asked } = readerOf(batch);
  const one = { batchId: batch.id, origin, retries: batch.retries };
  const shown = await batches.read([
    { ...one, accountId },
    { ...one, accountId: other },
    { ...one, accountId, origin: 'https://other.example.com' },
  ]);
  expect(shown).toMatchObject([{ id: batch.id }, null, { id: batch.id }]);
  expect(asked).toEqual([`${accountId} ${batch.id}`, `${other} ${batch.id}`]);
});
