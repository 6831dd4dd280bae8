import type { Statements } from '@millrace/database';
import type { PoolPace } from '@millrace/deployments';
import type { BusyAccount } from './account-queue.store';
import type { UnclaimedAttempt } from './lane-snapshot';
import { QueueEstimates, waitMsAt, type QueuePlace } from './queue-estimates';

describe('the place of a queued job', () => {
  /** A worker with one attempt, which ends one each second, and two in its lane. */
  const pace: PoolPace = { capacity: 1, inFlight: 3, attemptMs: 1_000 };
  const lane = ['a', 'b'].map((id) => ({ id, isSetAside: false }));
  const busy = [{ accountId: 'one', waiting: 2, weight: 1 }];
  let loads = 0;
  const estimates = (unclaimed: UnclaimedAttempt[], waiting: BusyAccount[] = busy): QueueEstimates => {
    const listUnclaimed = (): Promise<UnclaimedAttempt[]> => Promise.resolve((loads += 1)).then(() => unclaimed);
    const store = { listBusy: () => Promise.resolve(waiting), listUnclaimed };
    return new QueueEstimates({} as Statements, store, { pace: () => Promise.resolve(pace) });
  };
  const place = (position: number, waitMs: number): QueuePlace => ({ position, waitMs });

  it('is after all that have had their turn before it, with a wait of as many ends', async () => {
    const there = estimates(lane);
    expect(await there.placeInLane('pool', 'a')).toEqual(place(1, 1_000));
    expect(await there.placeInLane('pool', 'b')).toEqual(place(2, 2_000));
    expect(await there.place('pool', 'one', 0)).toEqual(place(3, 3_000));
    expect(await there.place('pool', 'one', 1)).toEqual(place(4, 4_000));
  });

  it('in the lane is the last, where it has come there since', async () => {
    expect(await estimates(lane).placeInLane('pool', 'c')).toMatchObject({ position: 3 });
    expect(await estimates([]).placeInLane('pool', 'c')).toMatchObject({ position: 1 });
  });

  it('that is set aside is after the lane, and makes no wait of those in it shorter', async () => {
    const there = estimates([...lane, { id: 'aside', isSetAside: true }]);
    expect(await there.placeInLane('pool', 'a')).toEqual(place(1, 1_000));
    expect(await there.placeInLane('pool', 'aside')).toMatchObject({ position: 3 });
  });

  it('costs no reading of its own', async () => {
    loads = 0;
    const there = estimates(lane);
    await Promise.all(Array.from({ length: 1_000 }, (_, nth) => there.placeInLane('pool', nth % 2 === 0 ? 'a' : 'b')));
    expect(loads).toBe(1);
  });
});

describe('the wait of a queued job', () => {
  const pace = { capacity: 4, inFlight: 6, attemptMs: 10_000 };

  it('is what it takes until as many attempts have ended as must before it starts', () => {
    expect(waitMsAt(1, pace)).toBe(7_500);
    expect(waitMsAt(9, pace)).toBe(27_500);
  });

  it('is nothing where a worker is free for it, known pace or not', () => {
    expect(waitMsAt(2, { capacity: 4, inFlight: 2, attemptMs: null })).toBe(0);
  });

  it.each([
    ['no worker is there', { ...pace, capacity: 0 }],
    ['none has run anything yet', { ...pace, attemptMs: null }],
  ])('is unknown where %s', (_when, present) => {
    expect(waitMsAt(1, present)).toBeNull();
  });
});
