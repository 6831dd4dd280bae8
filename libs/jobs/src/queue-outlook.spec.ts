import { positionAmong, waitMsAt } from './queue-outlook';

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

describe('the place of a queued job', () => {
  it('is after its own and after as many of the others as have their turn meanwhile', () => {
    const busy = [
      { accountId: 'a', waiting: 5, weight: 1 },
      { accountId: 'b', waiting: 100, weight: 1 },
      { accountId: 'c', waiting: 1, weight: 1 },
    ];
    expect(positionAmong(busy, 'a', 0)).toBe(1);
    expect(positionAmong(busy, 'a', 2)).toBe(3 + 2 + 1);
  });
});
