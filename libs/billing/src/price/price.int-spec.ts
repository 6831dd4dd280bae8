import fc from 'fast-check';
import { composeStatement, statementPart, type StatementPart } from '@millrace/database';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import {
  chargeMicros,
  chargePart,
  costMicros,
  exhaustionPart,
  extensionMicros,
  extensionPart,
  isExhausted,
  type BilledColumn,
  type ExtensibleColumn,
} from './price.store';

const amount = fc.bigInt({ min: 0n, max: 10n ** 12n });
const price = fc.oneof(fc.bigInt({ min: 0n, max: 3n }), fc.bigInt({ min: 0n, max: 10n ** 7n }));
const ms = fc.oneof(fc.bigInt({ min: 0n, max: 2_000n }), fc.bigInt({ min: 0n, max: 10n ** 9n }));

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

  it('is charged at its cost, and never above the hold', () => {
    const run = { priceMicrosPerSecond: 1_000n, billableMs: 2_500n };
    expect(chargeMicros({ ...run, heldMicros: 60_000n })).toBe(2_500n);
    expect(chargeMicros({ ...run, heldMicros: 10n })).toBe(10n);
  });
});

describe('a hold that runs short', () => {
  const terms = { leadMs: 10_000, stepMs: 60_000 };

  it('is extended so far that it covers the run until well after the next heartbeats, and not before it is short', () => {
    fc.assert(
      fc.property(amount, price, ms, (heldMicros, priceMicrosPerSecond, usedMs) => {
        const run = { heldMicros, priceMicrosPerSecond, usedMs };
        const by = extensionMicros(run, terms);
        const covers = costMicros(usedMs + BigInt(terms.leadMs), priceMicrosPerSecond);
        if (heldMicros >= covers) expect(by).toBe(0n);
        else expect(heldMicros + by >= covers && by >= costMicros(60_000n, priceMicrosPerSecond)).toBe(true);
        expect(isExhausted({ ...run, heldMicros: heldMicros + by })).toBe(false);
      }),
      { numRuns: 3_000 },
    );
  });

  it('is extended up to the limit of its submission, and no further', () => {
    fc.assert(
      fc.property(amount, price, ms, amount, (heldMicros, priceMicrosPerSecond, usedMs, spendLimitMicros) => {
        const run = { heldMicros, priceMicrosPerSecond, usedMs };
        const [free, limited] = [extensionMicros(run, terms), extensionMicros({ ...run, spendLimitMicros }, terms)];
        const room = spendLimitMicros > heldMicros ? spendLimitMicros - heldMicros : 0n;
        expect(limited).toBe(free < room ? free : room);
      }),
      { numRuns: 3_000 },
    );
  });

  it('is exhausted exactly when the run costs all of it, and never where time is free', () => {
    const run = { priceMicrosPerSecond: 1_000n, usedMs: 5_000n };
    expect(isExhausted({ ...run, heldMicros: 5_001n })).toBe(false);
    expect(isExhausted({ ...run, heldMicros: 5_000n })).toBe(true);
    expect(isExhausted({ ...run, priceMicrosPerSecond: 0n, heldMicros: 0n })).toBe(false);
  });
});

describe('on PostgreSQL', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.drop());

  interface Run {
    heldMicros: bigint;
    priceMicrosPerSecond: bigint;
    ms: bigint;
    spendLimitMicros: bigint | null;
  }

  /** Runs that are held for too much, for too little, and for exactly what they cost. */
  const run: fc.Arbitrary<Run> = fc
    .record({
      heldMicros: amount,
      priceMicrosPerSecond: price,
      ms,
      spendLimitMicros: fc.option(amount),
      isExact: fc.boolean(),
    })
    .map(({ isExact, ...rest }) => ({
      ...rest,
      heldMicros: isExact ? costMicros(rest.ms, rest.priceMicrosPerSecond) : rest.heldMicros,
    }));
  const runs = fc.array(run, { minLength: 1, maxLength: 100 });
  const terms = fc.record({
    leadMs: fc.integer({ min: 0, max: 600_000 }),
    stepMs: fc.integer({ min: 0, max: 600_000 }),
  });

  const inSql = (all: Run[]): StatementPart<BilledColumn | ExtensibleColumn> =>
    statementPart<BilledColumn | ExtensibleColumn>('run')`
      SELECT n AS id, held AS held_micros, price AS price_micros_per_second, ms AS used_ms, ms AS billable_ms, spend_limit AS spend_limit_micros
      FROM unnest(${all.map(({ heldMicros }) => heldMicros)}::bigint[],
        ${all.map((one) => one.priceMicrosPerSecond)}::bigint[], ${all.map((one) => one.ms)}::bigint[],
        ${all.map((one) => one.spendLimitMicros)}::bigint[])
        WITH ORDINALITY AS given (held, price, ms, spend_limit, n)`;

  it('the charge is what it is in TypeScript', async () => {
    await fc.assert(
      fc.asyncProperty(runs, async (all) => {
        const rows = await test.database.query<{ charged_micros: bigint }>(
          composeStatement([])`SELECT charged_micros FROM ${chargePart(inSql(all))} ORDER BY id`,
        );
        const expected = all.map(({ ms: billableMs, ...rest }) => chargeMicros({ ...rest, billableMs }));
        expect(rows.map((row) => row.charged_micros)).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });

  it('so are the extension of a hold and its end', async () => {
    await fc.assert(
      fc.asyncProperty(runs, terms, async (all, extension) => {
        const due = extensionPart(exhaustionPart(inSql(all)), extension);
        const rows = await test.database.query<{ extend_micros: bigint; is_exhausted: boolean }>(
          composeStatement([])`SELECT extend_micros, is_exhausted FROM ${due} ORDER BY id`,
        );
        const expected = all.map(({ ms: usedMs, ...rest }) => ({
          extend_micros: extensionMicros({ ...rest, usedMs }, extension),
          is_exhausted: isExhausted({ ...rest, usedMs }),
        }));
        expect(rows).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });
});
