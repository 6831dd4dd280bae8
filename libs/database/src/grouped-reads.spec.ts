import fc from 'fast-check';
import { GroupedReads } from './grouped-reads';

/** Reads that are answered when the test says so. */
class HeldReads {
  readonly groups: (readonly number[])[] = [];
  private readonly ends: (() => void)[] = [];
  readonly reads = new GroupedReads<number, string>((asks) => {
    this.groups.push(asks);
    return new Promise((resolve, reject) =>
      this.ends.push(() =>
        asks.includes(-1) ? reject(new Error('away')) : resolve(asks.map((ask) => (ask === 0 ? null : `found ${ask}`))),
      ),
    );
  });

  /** Until what was asked for in this turn has begun. */
  async turn(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Answer the oldest group, and let what waits for it go on. */
  async answer(): Promise<void> {
    this.ends.shift()?.();
    await this.turn();
    await this.turn();
  }

  async answerAll(): Promise<void> {
    await this.turn();
    while (this.ends.length > 0) await this.answer();
  }
}

describe('readings that come together', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => jest.useRealTimers());

  it('are one statement for each turn of the event loop, and wait together for the statement under way', async () => {
    const held = new HeldReads();
    const asked: Promise<string | null>[] = [];
    for (const asks of [[1, 2], [3], [4, 5]]) {
      asked.push(...asks.map((ask) => held.reads.get(ask)));
      await held.turn();
    }
    expect(held.groups).toEqual([[1, 2]]);
    await held.answer();
    expect(held.groups).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
    await held.answerAll();
    expect(await Promise.all(asked)).toEqual([1, 2, 3, 4, 5].map((ask) => `found ${ask}`));
  });

  it('do not wait for a statement that takes long, and two at most are under way', async () => {
    const held = new HeldReads();
    const asked: Promise<string | null>[] = [];
    for (const ask of [1, 2, 3]) {
      asked.push(held.reads.get(ask));
      await held.turn();
      jest.advanceTimersByTime(1_000);
      await held.turn();
    }
    expect(held.groups).toEqual([[1], [2]]);
    await held.answerAll();
    expect(await Promise.all(asked)).toEqual([1, 2, 3].map((ask) => `found ${ask}`));
  });

  it('wait for no other where any number may be under way', async () => {
    const groups: (readonly number[])[] = [];
    const silent = new GroupedReads<number, string>((asks) => {
      groups.push(asks);
      return new Promise(() => undefined);
    }, false);
    for (const asks of [[1, 2], [3], [4]]) {
      for (const ask of asks) void silent.get(ask);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(groups).toEqual([[1, 2], [3], [4]]);
  });

  it('never join a statement that began before they were asked for', async () => {
    const held = new HeldReads();
    void held.reads.get(1);
    await held.turn();
    const second = held.reads.get(1);
    await held.answerAll();
    expect(held.groups).toEqual([[1], [1]]);
    expect(await second).toBe('found 1');
  });

  it('fail with their own group alone', async () => {
    const held = new HeldReads();
    const failing = held.reads.get(-1);
    await held.turn();
    const well = held.reads.get(2);
    const both = expect(failing).rejects.toThrow('away');
    await held.answerAll();
    await both;
    expect(await well).toBe('found 2');
    const later = held.reads.get(3);
    await held.answerAll();
    expect(await later).toBe('found 3');
  });

  it('each get what they asked for, in statements of 32 at most', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(9), { minLength: 1, maxLength: 100 }), async (asks) => {
        const held = new HeldReads();
        const all = asks.map((ask) => held.reads.get(ask));
        await held.answerAll();
        expect(await Promise.all(all)).toEqual(asks.map((ask) => (ask === 0 ? null : `found ${ask}`)));
        expect(held.groups.flat()).toEqual(asks);
        expect(Math.max(...held.groups.map(({ length }) => length))).toBeLessThanOrEqual(32);
      }),
      { numRuns: 50 },
    );
  });
});
