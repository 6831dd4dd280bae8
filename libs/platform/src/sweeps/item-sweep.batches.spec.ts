import fc from 'fast-check';
import { ItemSweep } from './item-sweep';

class Outage extends Error {}
class TooLong extends Outage {}

/** A sweep of the items 0 to `count` - 1 in batches, of which some fail in any batch. */
function world(count: number, poison: ReadonlySet<number>, limit: number) {
  const left = new Set(Array.from({ length: count }, (_, item) => item));
  const failed: string[] = [];
  const state = { batches: 0, pages: 0, isAway: false, most: Number.POSITIVE_INFINITY, nowMs: 0 };
  const sweep = new ItemSweep<number>(
    {
      limit,
      page: async (after, most) => {
        state.pages += 1;
        return [...left].filter((item) => after === null || item > Number(after)).slice(0, most);
      },
      keyOf: String,
      workOnAll: async (items) => {
        state.batches += 1;
        if (state.isAway) throw new Outage('the database is away');
        if (items.length > state.most) throw new TooLong('the statement took too long');
        if (items.some((item) => poison.has(item))) throw new Error('a row of the batch cannot be deleted');
        items.forEach((item) => left.delete(item));
        return items.length;
      },
      isOutage: (error) => error instanceof Outage,
      isTooLong: (error) => error instanceof TooLong,
    },
    () => state.nowMs,
  );
  return {
    left,
    failed,
    state,
    run: () => sweep.run({ failed: (key) => void failed.push(key), resting: () => undefined }),
  };
}

/** Run until there is nothing to do: a run throws where all that it tried failed. */
async function runOut(run: () => Promise<number>): Promise<void> {
  for (let isOver = false; !isOver;) isOver = (await run().catch(() => 1)) === 0;
}

const items = fc.integer({ min: 1, max: 60 }).chain((count) =>
  fc.record({
    count: fc.constant(count),
    poison: fc.uniqueArray(fc.nat(count - 1)),
    limit: fc.integer({ min: 1, max: 60 }),
  }),
);

describe('a sweep in batches', () => {
  it('does every healthy item, reports each other once a pass, and takes few batches', async () => {
    await fc.assert(
      fc.asyncProperty(items, async ({ count, poison, limit }) => {
        const sorted = [...poison].sort((a, b) => a - b);
        const { left, failed, state, run } = world(count, new Set(poison), limit);
        await runOut(run);
        expect([...left]).toEqual(sorted);
        expect([...failed].sort((a, b) => Number(a) - Number(b))).toEqual(sorted.map(String));
        expect(state.batches).toBeLessThanOrEqual(state.pages + 2 * poison.length * Math.ceil(Math.log2(limit)));
        // What rests costs nothing until its time, and is then tried once more.
        state.batches = 0;
        await runOut(run);
        expect(state.batches).toBe(0);
        state.nowMs += 3_600_000;
        await runOut(run);
        expect(failed).toHaveLength(2 * poison.length);
      }),
    );
  });

  it('takes one batch for a page in which nothing fails', async () => {
    const { state, run } = world(100, new Set(), 50);
    await runOut(run);
    expect(state.batches).toBe(2);
  });

  it('ends a run with an outage, blames no item, and begins with the same page again', async () => {
    const { left, failed, state, run } = world(8, new Set([3]), 8);
    state.isAway = true;
    await expect(run()).rejects.toThrow(Outage);
    expect(state.batches).toBe(1);
    expect(failed).toEqual([]);
    state.isAway = false;
    await run();
    expect([...left]).toEqual([3]);
    expect(failed).toEqual(['3']);
  });

  it('takes smaller pages while a statement takes too long, and blames an item only when it is alone', async () => {
    const { left, failed, state, run } = world(32, new Set([5]), 16);
    state.most = 3;
    await runOut(run);
    expect([...left]).toEqual([5]);
    expect(failed).toEqual(['5']);
    state.most = 0;
    state.nowMs += 3_600_000;
    await runOut(run);
    expect(failed).toEqual(['5', '5']);
  });

  it('comes back to full pages once they do not take too long', async () => {
    const { state, run } = world(64, new Set(), 8);
    state.most = 1;
    for (let times = 0; times < 4; times += 1) await run().catch(() => undefined);
    state.most = Number.POSITIVE_INFINITY;
    state.batches = 0;
    await runOut(run);
    // One item was done; then pages of 2, 4 and 8.
    expect(state.batches).toBe(Math.ceil((64 - 1 - 2 - 4) / 8) + 2);
  });

  it('keeps what was done before an outage came', async () => {
    const { left, state, run } = world(8, new Set([7]), 8);
    let isFirst = true;
    const leaves = left.delete.bind(left);
    jest.spyOn(left, 'delete').mockImplementation((item) => {
      if (isFirst) state.isAway = true;
      isFirst = false;
      return leaves(item);
    });
    await expect(run()).rejects.toThrow(Outage);
    expect([...left]).toEqual([4, 5, 6, 7]);
  });
});
