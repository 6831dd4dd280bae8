import type { Target } from '@millrace/deployments';
import { BatchExaminer } from './batch-examiner';

const body = Buffer.from('{}');
const target = { catalogue: {} } as Target;
const slice = { items: [], faults: [], faultCount: 0, graphBytes: 0, next: 1 };
/** Of a batch as the threads were slow in it: two slices, of so many milliseconds each. */
const SLICE_MS = 20_000;
const batches = new BatchExaminer(
  {
    examineBatch: (_body, _target, take, _library, spend) => {
      for (const ms of [SLICE_MS, SLICE_MS]) {
        spend?.(ms);
        take(slice, null);
      }
      return Promise.resolve();
    },
  },
  { knownModels: () => Promise.resolve(new Set()) },
);

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

it('the next batch of an account waits three times as long as threads worked on the last, and that of another begins', async () => {
  const begun: string[] = [];
  const examined = (account: string): Promise<void> =>
    batches.inTurn(account, async (examine) => {
      begun.push(account);
      await examine(body, target, () => true);
      await examine(body, target, () => true);
    });
  await examined('a');
  const second = examined('a');
  await examined('b');
  await jest.advanceTimersByTimeAsync(3 * 4 * SLICE_MS - 1);
  expect(begun).toEqual(['a', 'b']);
  await jest.advanceTimersByTimeAsync(1);
  await second;
  expect(begun).toEqual(['a', 'b', 'a']);
});

it('one batch of an account is examined at a time', async () => {
  let end: () => void = () => undefined;
  const first = batches.inTurn('c', () => new Promise<void>((resolve) => (end = resolve)));
  let hasBegun = false;
  const second = batches.inTurn('c', async () => void (hasBegun = true));
  await jest.advanceTimersByTimeAsync(600_000);
  expect(hasBegun).toBe(false);
  end();
  await first;
  // No thread has worked on the first.
  await jest.advanceTimersByTimeAsync(1);
  await second;
  expect(hasBegun).toBe(true);
});
