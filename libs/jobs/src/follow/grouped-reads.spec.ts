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

  /** Answer the oldest group, and let what waits for it go on. */
  async answer(): Promise<void> {
    this.ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }

  async answerAll(): Promise<void> {
    while (this.ends.length > 0) await this.answer();
  }
}

describe('readings that come together', () => {
  it('go at once while fewer than two statements are under way, and then wait for each other', async () => {
    const held = new HeldReads();
    const all = [1, 2, 3, 4, 5].map((ask) => held.reads.get(ask));
    expect(held.groups).toEqual([[1], [2]]);
    await held.answer();
    expect(held.groups).toEqual([[1], [2], [3, 4, 5]]);
    await held.answerAll();
    expect(await Promise.all(all)).toEqual([1, 2, 3, 4, 5].map((ask) => `found ${ask}`));
  });

  it('never join a statement that began before they were asked for', async () => {
    const held = new HeldReads();
    void held.reads.get(1);
    void held.reads.get(2);
    const third = held.reads.get(1);
    expect(held.groups).toEqual([[1], [2]]);
    await held.answerAll();
    expect([held.groups.at(-1), await third]).toEqual([[1], 'found 1']);
  });

  it('fail with their own group alone', async () => {
    const held = new HeldReads();
    const failing = held.reads.get(-1);
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
