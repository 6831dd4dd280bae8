import fc from 'fast-check';
import { startWaitSeconds } from './start-wait';

describe('the time to wait for a deployment', () => {
  it.each([
    ['what is left of a typical start', { typicalStartMs: 20_000, waitedMs: 5_000 }, 15],
    ['a part of the time that a start is overdue', { typicalStartMs: 20_000, waitedMs: 40_000 }, 10],
    ['a guess where nothing is known', { typicalStartMs: null, waitedMs: 0 }, 10],
    ['no more than half a minute', { typicalStartMs: 600_000, waitedMs: 0 }, 30],
    ['no less than a second', { typicalStartMs: 100, waitedMs: 0 }, 1],
  ])('is %s', (_, outlook, seconds) => expect(startWaitSeconds(outlook)).toBe(seconds));

  it('is a whole number of seconds from 1 to 30, for any times', () => {
    const ms = fc.double({ min: -1e12, max: 1e12, noNaN: true });
    fc.assert(
      fc.property(fc.option(ms, { nil: null }), ms, (typicalStartMs, waitedMs) => {
        const seconds = startWaitSeconds({ typicalStartMs, waitedMs });
        expect(Number.isInteger(seconds)).toBe(true);
        expect(seconds).toBeGreaterThanOrEqual(1);
        expect(seconds).toBeLessThanOrEqual(30);
      }),
    );
  });
});
