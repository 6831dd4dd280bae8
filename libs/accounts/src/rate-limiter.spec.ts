import fc from 'fast-check';
import { RateLimiter, type Counters } from './rate-limiter';

/** Counters of several processes in one memory. */
class MemoryCounters {
  away = false;
  /** The next exchange is done, and its answer lost. */
  losesAnswer = false;
  /** Counters that were read and not written. */
  readonly reads: string[] = [];
  private readonly counts: Map<string, number>[] = [];

  /** As one more process has them. */
  ofProcess(): Counters {
    const own = new Map<string, number>();
    this.counts.push(own);
    return { exchange: (counts, _, read) => this.exchange(own, counts, read) };
  }

  private async exchange(
    own: Map<string, number>,
    counts: ReadonlyMap<string, number>,
    read: readonly string[],
  ): Promise<Map<string, number>> {
    this.reads.push(...read);
    if (this.away) throw new Error('away');
    for (const [name, count] of counts) own.set(name, count);
    if (this.losesAnswer) {
      this.losesAnswer = false;
      throw new Error('late');
    }
    const others = this.counts.filter((counted) => counted !== own);
    const sumOf = (name: string): number => others.reduce((sum, counted) => sum + (counted.get(name) ?? 0), 0);
    return Promise.resolve(new Map(Array.from([...counts.keys(), ...read], (name) => [name, sumOf(name)])));
  }
}

const START = 1_800_000_000_000;
let now: number;
let counters: MemoryCounters;
const limiters: RateLimiter[] = [];
const limiter = (): RateLimiter => {
  const made = new RateLimiter(counters.ofProcess(), () => now);
  limiters.push(made);
  return made;
};
beforeEach(() => {
  now = START;
  counters = new MemoryCounters();
});
afterEach(() => {
  for (const made of limiters.splice(0)) made.close();
});

const passed = (of: RateLimiter, requests: number, limit: number): number =>
  Array.from({ length: requests }, () => of.take('a', limit)).filter(({ allowed }) => allowed).length;

describe('a limit per minute', () => {
  it('lets exactly as many pass, and reports what is left', () => {
    const of = limiter();
    expect(of.take('a', 3)).toMatchObject({ allowed: true, limit: 3, remaining: 2, resetSeconds: 60 });
    expect(passed(of, 5, 3)).toBe(2);
    expect(of.take('a', 3)).toMatchObject({ allowed: false, remaining: 0, resetSeconds: 60, retryAfterSeconds: 80 });
    expect(of.take('b', 3).allowed).toBe(true);
  });

  it('slides: half a minute into the next window, half of the last still counts', () => {
    const of = limiter();
    expect(passed(of, 200, 100)).toBe(100);
    now += 90_000;
    expect(passed(of, 200, 100)).toBe(50);
    now += 120_000;
    expect(passed(of, 200, 100)).toBe(100);
  });

  it('holds over all processes, as soon as they have shared their counts', async () => {
    const [one, two] = [limiter(), limiter()];
    expect(passed(one, 60, 100)).toBe(60);
    await one.sync();
    two.take('a', 100);
    await two.sync();
    expect(passed(two, 100, 100)).toBe(39);
  });

  it('slides over all processes: a caller that goes over to another finds the window before there', async () => {
    const [one, two] = [limiter(), limiter()];
    now += 50_000;
    expect(passed(one, 200, 100)).toBe(100);
    await one.sync();
    now += 20_000;
    expect(passed(two, 1, 100)).toBe(1);
    await two.sync();
    expect(passed(two, 200, 100)).toBe(15);
    await two.sync();
    now += 30_000;
    expect(passed(two, 200, 100)).toBe(50);
    await two.sync();
    expect(counters.reads).toHaveLength(2);
  });

  it('adds what both let pass in the window before, also where the first exchange fails', async () => {
    const [one, two] = [limiter(), limiter()];
    expect([passed(one, 40, 100), passed(two, 20, 100)]).toEqual([40, 20]);
    await one.sync();
    now += 60_000;
    expect(passed(two, 1, 100)).toBe(1);
    counters.losesAnswer = true;
    await two.sync();
    await two.sync();
    expect(passed(two, 200, 100)).toBe(39);
  });

  it('goes on by itself while Redis is away, and shares its counts afterwards', async () => {
    const [one, two] = [limiter(), limiter()];
    counters.away = true;
    expect(passed(one, 150, 100)).toBe(100);
    await one.sync();
    counters.away = false;
    await one.sync();
    two.take('a', 100);
    await two.sync();
    expect(two.take('a', 100).allowed).toBe(false);
  });

  it('counts each request once where Redis answers too late', async () => {
    const [one, two] = [limiter(), limiter()];
    expect(passed(one, 40, 100)).toBe(40);
    counters.losesAnswer = true;
    await one.sync();
    await one.sync();
    expect(passed(two, 10, 100)).toBe(10);
    await two.sync();
    one.take('a', 100);
    await one.sync();
    expect(passed(one, 100, 100)).toBe(49);
    expect(passed(two, 100, 100)).toBe(50);
  });
});

it('never lets more than the limit pass in a window, and lets a caller pass that waited for retryAfterSeconds', () => {
  const steps = fc.array(fc.integer({ min: 0, max: 30_000 }), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), steps, (limit, pauses) => {
      now = START;
      const of = limiter();
      const windows = new Map<number, number>();
      for (const pause of pauses) {
        now += pause;
        const verdict = of.take('a', limit);
        expect(verdict.retryAfterSeconds).toBeGreaterThanOrEqual(1);
        if (!verdict.allowed) {
          now += verdict.retryAfterSeconds * 1_000;
          expect(of.take('a', limit).allowed).toBe(true);
        }
        const window = Math.floor(now / 60_000);
        windows.set(window, (windows.get(window) ?? 0) + 1);
      }
      for (const count of windows.values()) expect(count).toBeLessThanOrEqual(limit);
    }),
  );
});
