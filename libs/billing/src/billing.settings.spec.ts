import fc from 'fast-check';
import { holdMicrosOf } from './billing.settings';
import { chargeMicros, costMicros } from './price';

const FIRST_HEARTBEAT_MS = 3_334;
const price = fc.oneof(fc.bigInt({ min: 1n, max: 3n }), fc.bigInt({ min: 1n, max: 10n ** 7n }));

describe('the hold of a submission', () => {
  it('pays for every run that ends before a heartbeat can extend it, with any setting', () => {
    const holdMicros = fc.option(fc.nat(10 ** 9), { nil: undefined });
    fc.assert(
      fc.property(holdMicros, price, fc.integer({ min: 1, max: FIRST_HEARTBEAT_MS }), (set, each, ms) => {
        const heldMicros = holdMicrosOf({ holdMicros: set }, each, FIRST_HEARTBEAT_MS);
        const charge = chargeMicros({ heldMicros, priceMicrosPerSecond: each, billableMs: BigInt(ms) });
        expect(charge).toBe(costMicros(BigInt(ms), each));
        expect(charge).toBeGreaterThan(0n);
      }),
    );
  });

  it.each<[string, number | undefined, bigint, bigint]>([
    ['is what is set', 60_000, 1_000n, 60_000n],
    ['is the price of ten minutes where nothing is set', undefined, 1_000n, 600_000n],
    ['is the price of the time until the first heartbeat where 0 is set', 0, 1_000n, 3_334n],
    ['is that where less is set', 3_333, 1_000n, 3_334n],
    ['is nothing where nothing is charged', 60_000, 0n, 0n],
  ])('%s', (_, holdMicros, each, expected) => {
    expect(holdMicrosOf({ holdMicros }, each, FIRST_HEARTBEAT_MS)).toBe(expected);
  });
});
