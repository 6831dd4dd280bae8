import fc from 'fast-check';
import { planRoom, type RoomFacts } from './room';

const size = fc.integer({ min: 0, max: 100 });
const digest = fc.integer({ min: 0, max: 30 }).map(String);
const models = fc.uniqueArray(
  fc.record({ digest, sizeBytes: size, usedAtMs: fc.integer({ min: 0, max: 50 }), isLinked: fc.boolean() }),
  { selector: (model) => model.digest },
);
const partials = fc.uniqueArray(
  fc
    .record({ digest, path: fc.uuid(), sizeBytes: size, storedBytes: size, usedAtMs: fc.integer({ min: 0, max: 50 }) })
    .map((partial) => ({ ...partial, storedBytes: Math.min(partial.sizeBytes, partial.storedBytes) })),
  { selector: (partial) => partial.digest },
);
const facts: fc.Arbitrary<RoomFacts> = fc.record({
  models,
  partials,
  budgetBytes: fc.integer({ min: 1, max: 600 }),
  freeBytes: fc.integer({ min: 0, max: 600 }),
  neededBytes: size,
  fetching: fc.uniqueArray(digest).map((digests) => new Set(digests)),
});
const sum = (list: readonly { sizeBytes: number }[]): number => list.reduce((all, { sizeBytes }) => all + sizeBytes, 0);

/** Whether what is needed and what is to come of the pieces go into the budget and onto the disk once so many bytes have gone. */
function fitsWithout(gone: number, given: RoomFacts): boolean {
  const toCome = sum(given.partials) - given.partials.reduce((all, { storedBytes }) => all + storedBytes, 0);
  return (
    sum(given.models) + sum(given.partials) - gone + given.neededBytes <= given.budgetBytes &&
    given.neededBytes + toCome <= given.freeBytes + gone
  );
}

describe('a plan for room', () => {
  it('fits into the budget and onto the disk, and takes nothing that is in use', () => {
    fc.assert(
      fc.property(facts, (given) => {
        const plan = planRoom(given);
        expect(plan.evicted.filter(({ isLinked }) => isLinked)).toEqual([]);
        expect(plan.evicted.filter((model) => given.fetching.has(model.digest))).toEqual([]);
        expect(plan.dropped.filter((partial) => given.fetching.has(partial.digest))).toEqual([]);
        expect(plan.fits).toBe(fitsWithout(sum(plan.evicted) + sum(plan.dropped), given));
      }),
    );
  });

  it('takes the least recently used first, and no more than it has to', () => {
    fc.assert(
      fc.property(facts, (given) => {
        const { dropped, evicted, fits } = planRoom(given);
        const unused = given.models.filter((model) => !model.isLinked && !given.fetching.has(model.digest));
        const kept = unused.filter((model) => !evicted.includes(model));
        for (const model of evicted)
          for (const other of kept) expect(model.usedAtMs).toBeLessThanOrEqual(other.usedAtMs);
        const last = evicted.at(-1) ?? dropped.at(-1);
        if (!fits || last === undefined) return;
        const gone = sum(evicted) + sum(dropped) - last.sizeBytes;
        expect(fitsWithout(gone, given) && last.sizeBytes > 0).toBe(false);
      }),
    );
  });

  it('says whether waiting may help', () => {
    const none: RoomFacts = {
      models: [],
      partials: [],
      budgetBytes: 10,
      freeBytes: 10,
      neededBytes: 11,
      fetching: new Set(),
    };
    expect(planRoom(none)).toMatchObject({ fits: false, mayWait: false });
    const linked = { digest: 'a', sizeBytes: 5, usedAtMs: 0, isLinked: true };
    expect(planRoom({ ...none, models: [linked] })).toMatchObject({ fits: false, mayWait: true });
    const fetched = { ...none, models: [{ ...linked, isLinked: false }], fetching: new Set('a') };
    expect(planRoom(fetched)).toMatchObject({ fits: false, mayWait: true });
    const partial = { digest: 'a', path: 'p', sizeBytes: 5, storedBytes: 5, usedAtMs: 0 };
    expect(planRoom({ ...none, partials: [partial], fetching: new Set('a') })).toMatchObject({ mayWait: true });
  });
});
