import fc from 'fast-check';
import { costMicros, creditsText, extensionMicros, isExhausted, MICROS_PER_CREDIT } from './price';

const amount = fc.bigInt({ min: 0n, max: 10n ** 12n });
const price = fc.bigInt({ min: 0n, max: 10n ** 7n });
const ms = fc.bigInt({ min: 0n, max: 10n ** 9n });

describe('engine time', () => {
  it('costs its price, rounded up to the micro-credit', () => {
    expect(costMicros(1n, 1n)).toBe(1n);
    expect(costMicros(1_000n, 1n)).toBe(1n);
    expect(costMicros(1_001n, 1n)).toBe(2n);
    expect(costMicros(2_500n, 1_000n)).toBe(2_500n);
    expect(costMicros(0n, 1_000n)).toBe(0n);
  });

  it('never costs less for more of it, and split in two never less than whole', () => {
    fc.assert(
      fc.property(ms, ms, price, (a, b, each) => {
        const [whole, parts] = [costMicros(a + b, each), costMicros(a, each) + costMicros(b, each)];
        expect(whole >= costMicros(a, each)).toBe(true);
        expect(parts - whole).toBeGreaterThanOrEqual(0n);
        expect(parts - whole).toBeLessThanOrEqual(1n);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a hold that runs short', () => {
  const terms = { leadMs: 10_000n, stepMs: 60_000n };

  it('is extended so far that it covers the run until well after the next heartbeats, and not before it is short', () => {
    fc.assert(
      fc.property(amount, price, ms, (heldMicros, priceMicrosPerSecond, engineMs) => {
        const run = { heldMicros, priceMicrosPerSecond, engineMs };
        const by = extensionMicros(run, terms);
        const covers = costMicros(engineMs + terms.leadMs, priceMicrosPerSecond);
        if (heldMicros >= covers) expect(by).toBe(0n);
        else expect(heldMicros + by >= covers && by >= costMicros(terms.stepMs, priceMicrosPerSecond)).toBe(true);
        expect(isExhausted({ ...run, heldMicros: heldMicros + by })).toBe(false);
      }),
      { numRuns: 3_000 },
    );
  });

  it('is exhausted exactly when the run costs all of it, and never where time is free', () => {
    const run = { priceMicrosPerSecond: 1_000n, engineMs: 5_000n };
    expect(isExhausted({ ...run, heldMicros: 5_001n })).toBe(false);
    expect(isExhausted({ ...run, heldMicros: 5_000n })).toBe(true);
    expect(isExhausted({ ...run, priceMicrosPerSecond: 0n, heldMicros: 0n })).toBe(false);
  });
});

describe('an amount for people', () => {
  it.each([
    [0n, '0'],
    [1n, '0.000001'],
    [600_000n, '0.6'],
    [MICROS_PER_CREDIT, '1'],
    [-2_500_000n, '-2.5'],
  ])('%s micro-credits read %s', (micros, text) => {
    expect(creditsText(micros)).toBe(text);
  });
});
