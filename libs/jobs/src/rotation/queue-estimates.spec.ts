import { waitMsAt } from './queue-estimates';

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
