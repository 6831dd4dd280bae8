import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { CreditRace, raceStep, type RaceStep } from '../fixtures/credit-race';
import { SEED } from '../fixtures/operations';

const ROUNDS = 3;
/** Some schedules need more for everything to take place. */
const MOST_ROUNDS = 12;
const ACTORS = 10;
const STEPS = 16;
const ENDS = ['succeeded', 'failed', 'canceled', 'expired'];
const TRANSFERS = ['hold', 'extend_hold', 'settle', 'release', 'grant', 'top_up', 'expire', 'correction'];

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase(ACTORS);
});
afterAll(() => test.drop());

/** Steps of each actor in a round: the same for a seed, in any order that PostgreSQL makes of them. */
function stepsOf(round: number): RaceStep[][] {
  const steps = fc.sample(raceStep, { numRuns: ACTORS * STEPS, seed: SEED + round });
  return Array.from({ length: ACTORS }, (_, actor) => steps.slice(actor * STEPS, (actor + 1) * STEPS));
}

it(`one account keeps every invariant of money while all happens to it at once (seed ${SEED})`, async () => {
  const race = await CreditRace.open(test, 2_000_000n);
  const act = async (steps: RaceStep[]): Promise<void> => {
    for (const step of steps) await race.take(step);
  };
  // A race of refusals would prove nothing.
  const missing = async (): Promise<string[]> => {
    const tally = await race.tally();
    return [...ENDS, ...TRANSFERS].filter((what) => (tally[what] ?? 0) === 0);
  };
  for (let round = 0; round < ROUNDS || (round < MOST_ROUNDS && (await missing()).length > 0); round += 1) {
    await Promise.all(stepsOf(round).map(act));
    expect(await race.findings()).toEqual([]);
    const { availableMicros, heldMicros } = await race.jobs.balance();
    expect(heldMicros).toBe(await race.heldByJobs());
    expect(availableMicros + heldMicros).toBe(await race.expectedMicros());
  }
  await race.endAll();
  expect(await race.findings()).toEqual([]);
  expect(await race.jobs.balance()).toEqual({ availableMicros: await race.expectedMicros(), heldMicros: 0n });
  expect(await missing()).toEqual([]);
});
