import fc from 'fast-check';
import { backoffMs } from './backoff';

describe('the pause before another try', () => {
  it('is never longer than its cap, never negative, and may be anything up to the doubled base', () => {
    fc.assert(
      fc.property(
        fc.nat(100),
        fc.integer({ min: 1, max: 5_000 }),
        fc.integer({ min: 1, max: 60_000 }),
        (n, base, cap) => {
          const pause = backoffMs(n, base, cap);
          expect(pause).toBeGreaterThanOrEqual(0);
          expect(pause).toBeLessThanOrEqual(Math.min(cap, base * 2 ** n));
        },
      ),
    );
  });
});
