import { newId } from '@millrace/contracts';
import type { ClaimedMessage } from '../messages';
import { readData, type BatchOfMessage } from './message-body';

function messageOf(parts: Partial<ClaimedMessage>): ClaimedMessage {
  return {
    ...{ id: newId(), endpointId: newId(), accountId: newId(), url: 'https://a.example/', origin: 'https://b.example' },
    ...{
      type: 'batch.completed',
      jobId: null,
      batchId: null,
      data: null,
      createdAt: new Date(0),
      attempt: 1,
      tries: 1,
    },
    ...parts,
  };
}

it('of a batch, what is read is asked for with the end that the message is of', async () => {
  const asked: BatchOfMessage[] = [];
  const batches = (each: readonly BatchOfMessage[]): Promise<object[]> => {
    asked.push(...each);
    return Promise.resolve(each.map(({ batchId }) => ({ id: batchId })));
  };
  const batchId = newId();
  const messages = [
    messageOf({ batchId, data: { retries: 2 } }),
    messageOf({ batchId }),
    messageOf({ data: { a: 1 } }),
  ];
  const read = await readData({ jobs: () => Promise.resolve([]), batches }, messages);
  expect(read).toEqual([{ id: batchId }, { id: batchId }, { a: 1 }]);
  expect(asked.map(({ retries }) => retries)).toEqual([2, null]);
});
