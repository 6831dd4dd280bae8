import { ApiError } from './api';
import { OrderPauses } from './order-pauses';

let nowMs = 0;
beforeEach(() => {
  nowMs = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterEach(() => jest.restoreAllMocks());

/** The moments, in seconds, at which a server that always refuses is asked, when orders come every half second. */
async function triesWithin(seconds: number, error: Error): Promise<number[]> {
  const pauses = new OrderPauses();
  const tries: number[] = [];
  const refuse = (): Promise<void> => {
    tries.push(nowMs / 1_000);
    return Promise.reject(error);
  };
  for (; nowMs <= seconds * 1_000; nowMs += 500) await expect(pauses.place('a', refuse)).rejects.toBe(error);
  return tries;
}

it('pauses grow from a second to a minute', async () => {
  expect(await triesWithin(200, new ApiError(500, 'no'))).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183]);
});

it('a server that says when it wants to be asked again is not asked before', async () => {
  expect(await triesWithin(50, new ApiError(429, 'no', 20_000))).toEqual([0, 20, 40]);
});

it('a pool that is refused holds no other one back, and an order that is placed ends its pauses', async () => {
  const pauses = new OrderPauses();
  await expect(pauses.place('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const placed = jest.fn(() => Promise.resolve());
  await pauses.place('b', placed);
  nowMs = 1_000;
  await pauses.place('a', placed);
  await pauses.place('a', placed);
  expect(placed).toHaveBeenCalledTimes(3);
});
