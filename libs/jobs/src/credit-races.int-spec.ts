import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { CreditRace, raceStep, type RaceStep } from './fixtures/credit-race';
import { SEED } from './fixtures/operations';

const ROUNDS = 3;
const ACTORS = 10;
const STEPS = 16;

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase(ACTORS);
});
afterAll(() => test.drop());

/** Steps of each actor in a round: the same for a seed, whatever order PostgreSQL makes of them. */
function stepsOf(round: number): RaceStep[][] {
  const steps = fc.sample(raceStep, { numRuns: ACTORS * STEPS, seed: SEED + round });
  return Array.from({ length: ACTORS }, (_, actor) => steps.slice(actor * STEPS, (actor + 1) * STEPS));
}

it(`one account keeps every invariant of money while all happens to it at once (seed ${SEED})`, async () => {
  const race = await CreditRace.open(test, 2_000_000n);
  const act = async (steps: RaceStep[]): Promise<void> => {
    for (const step of steps) await race.take(step);
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    await Promise.all(stepsOf(round).map(act));
    expect(await race.findings()).toEqual([]);
    const { availableMicros, heldMicros } = await race.jobs.balance();
    expect(heldMicros).toBe(await race.heldByJobs());
    expect(availableMicros + heldMicros).toBe(await race.expectedMicros());
  }
  await race.endAll();
  // Of the grants above, the jobs may have used up all that would have expired.
  await race.take({ kind: 'grant', nth: 1, ms: 50_000 });
  await race.take({ kind: 'expire grants', nth: 5, ms: 1 });
  expect(await race.findings()).toEqual([]);
  expect(await race.jobs.balance()).toEqual({ availableMicros: await race.expectedMicros(), heldMicros: 0n });
  // All of it took place: a race of refusals would prove nothing.
  const tally = await race.tally();
  const kinds = ['hold', 'extend_hold', 'settle', 'release', 'grant', 'top_up', 'expire', 'correction'];
  for (const what of ['succeeded', 'failed', 'canceled', 'expired', ...kinds]) {
    expect([what, (tally[what] ?? 0) > 0]).toEqual([what, true]);
  }
});
