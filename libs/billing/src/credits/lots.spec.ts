import fc from 'fast-check';
import { afterDraws, drawFrom, expiring, notHeld, type Lot } from './lots';

const DAY_MS = 86_400_000;
const GRACE_MS = DAY_MS;

type Step =
  | { do: 'bring'; micros: bigint; days: number | null }
  | { do: 'hold' | 'release' | 'charge' | 'take'; micros: bigint }
  | { do: 'pass'; days: number };

const micros = fc.bigInt({ min: 1n, max: 1_000n });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('bring' as const), micros, days: fc.option(fc.integer({ min: 1, max: 5 })) }),
  fc.record({ do: fc.constantFrom('hold' as const, 'release' as const, 'charge' as const, 'take' as const), micros }),
  fc.record({ do: fc.constant('pass' as const), days: fc.integer({ min: 0, max: 3 }) }),
);

/** An account by the rules alone, which draws late as the real one does. */
class Account {
  available = 0n;
  held = 0n;
  outstanding = 0n;
  expired = 0n;
  brought = 0n;
  left = 0n;
  now = 0;
  lots: Lot[] = [];

  take(next: Step): void {
    if (next.do === 'bring') this.bring(next.micros, next.days);
    else if (next.do === 'pass') this.pass(next.days);
    else this.move(next.do, next.micros);
  }

  settle(): void {
    this.lots = afterDraws(this.lots, drawFrom(this.lots, this.outstanding));
    this.outstanding = 0n;
  }

  private bring(amount: bigint, days: number | null): void {
    this.settle();
    const expiresAt = days === null ? null : new Date(this.now + days * DAY_MS);
    this.lots.push({ transactionId: String(this.lots.length).padStart(4, '0'), remainingMicros: amount, expiresAt });
    this.available += amount;
    this.brought += amount;
  }

  private move(what: 'hold' | 'release' | 'charge' | 'take', wanted: bigint): void {
    const from = what === 'hold' || what === 'take' ? this.available : this.held;
    const amount = wanted < from ? wanted : from;
    if (what === 'hold' || what === 'take') this.available -= amount;
    else this.held -= amount;
    if (what === 'hold') this.held += amount;
    else if (what === 'release') this.available += amount;
    else {
      this.outstanding += amount;
      this.left += amount;
    }
  }

  private pass(days: number): void {
    this.now += days * DAY_MS;
    this.settle();
    const draws = expiring(this.lots, { availableMicros: this.available, heldMicros: this.held }, this.at, GRACE_MS);
    this.lots = afterDraws(this.lots, draws);
    for (const { amountMicros } of draws) {
      this.available -= amountMicros;
      this.expired += amountMicros;
    }
  }

  get at(): Date {
    return new Date(this.now);
  }

  get isSound(): boolean {
    const has = this.available + this.held;
    return (
      this.remaining === has + this.outstanding &&
      this.brought === has + this.left + this.expired &&
      this.available >= 0n &&
      this.held >= 0n &&
      this.lots.every((lot) => lot.remainingMicros >= 0n)
    );
  }

  get remaining(): bigint {
    return this.lots.reduce((sum, lot) => sum + lot.remainingMicros, 0n);
  }

  remainingOf(isOf: (lot: Lot) => boolean): bigint {
    return this.lots.filter(isOf).reduce((sum, lot) => sum + lot.remainingMicros, 0n);
  }
}

describe('lots', () => {
  it('always hold together what the account has, and nothing of them or of the account is ever below zero', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const account = new Account();
        for (const next of steps) {
          account.take(next);
          if (!account.isSound) return false;
        }
        return true;
      }),
      { numRuns: 4_000 },
    );
  });

  it('that have expired keep at most what is held, and after the longest life of a job only what is in holds of that day', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const account = new Account();
        for (const next of [...steps, { do: 'pass', days: 0 } as const]) account.take(next);
        const expired = account.remainingOf(({ expiresAt }) => expiresAt !== null && expiresAt <= account.at);
        const overdue = account.remainingOf(
          ({ expiresAt }) => expiresAt !== null && expiresAt.getTime() + GRACE_MS <= account.now,
        );
        return expired <= account.held && (overdue === 0n || account.available === 0n);
      }),
      { numRuns: 4_000 },
    );
  });

  it('are drawn in the order of their expiry, those without one last', () => {
    const lot = (transactionId: string, days: number | null): Lot => ({
      transactionId,
      remainingMicros: 10n,
      expiresAt: days === null ? null : new Date(days * DAY_MS),
    });
    const draws = drawFrom([lot('never', null), lot('late', 9), lot('soon', 1)], 25n);
    expect(draws.map(({ transactionId, amountMicros }) => [transactionId, amountMicros])).toEqual([
      ['soon', 10n],
      ['late', 10n],
      ['never', 5n],
    ]);
    expect(() => drawFrom([lot('soon', 1)], 11n)).toThrow('lack 1');
  });

  it('leave a job the credits it was accepted on, and go when they come back', () => {
    const lots = [{ transactionId: 'g', remainingMicros: 100n, expiresAt: new Date(DAY_MS) }];
    const at = new Date(DAY_MS);
    expect(expiring(lots, { availableMicros: 40n, heldMicros: 60n }, at, GRACE_MS)[0]?.amountMicros).toBe(40n);
    const rest = [{ transactionId: 'g', remainingMicros: 60n, expiresAt: new Date(DAY_MS) }];
    expect(expiring(rest, { availableMicros: 0n, heldMicros: 60n }, at, GRACE_MS)).toEqual([]);
    expect(expiring(rest, { availableMicros: 60n, heldMicros: 0n }, at, GRACE_MS)[0]?.amountMicros).toBe(60n);
  });

  it('expire in the end, also for an account that always holds something', () => {
    const lots = [{ transactionId: 'g', remainingMicros: 60n, expiresAt: new Date(DAY_MS) }];
    const busy = { availableMicros: 500n, heldMicros: 60n };
    expect(expiring(lots, busy, new Date(DAY_MS), GRACE_MS)).toEqual([]);
    expect(expiring(lots, busy, new Date(DAY_MS + GRACE_MS), GRACE_MS)[0]?.amountMicros).toBe(60n);
  });
});

it('held credits are those of the lots that are used first', () => {
  const lot = (transactionId: string, days: number | null): Lot => ({
    transactionId,
    remainingMicros: 10n,
    expiresAt: days === null ? null : new Date(days * DAY_MS),
  });
  const lots = [lot('a', null), lot('b', 2), lot('c', 1)];
  expect([...notHeld(lots, 14n)].sort()).toEqual([
    ['a', 10n],
    ['b', 6n],
    ['c', 0n],
  ]);
});
