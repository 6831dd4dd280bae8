import fc from 'fast-check';
import { Prisma } from '@prisma/client';
import { CreditAlertStore } from '@millrace/billing';
import { newId } from '@millrace/contracts';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { CreditJobs } from '../fixtures/credit-jobs';
import { CreditRace, raceStep } from '../fixtures/credit-race';
import { SEED } from '../fixtures/operations';
import type { ClaimedAttempt } from '../state/job';

const PRICE = 1_000n;
const ACTORS = 8;
const STEPS = 20;

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase(ACTORS);
});
afterAll(() => test.drop());

/** The account is warned when it has less than this. */
async function alert(accountId: string, belowMicros: bigint): Promise<void> {
  await new CreditAlertStore().set(test.database, accountId, belowMicros);
  const endpoint = { url: 'https://receiver.example.com/', origin: 'https://a.example', eventTypes: ['credits.low'] };
  await test.database.models.webhookEndpoint.create({ data: { id: newId(), accountId, ...endpoint } });
}
async function withAlert(micros: bigint, belowMicros: bigint): Promise<CreditJobs> {
  const jobs = await CreditJobs.make(test, micros);
  await alert(jobs.accountId, belowMicros);
  return jobs;
}
const messages = ({ accountId }: CreditJobs): Promise<{ available: bigint; held: bigint }[]> =>
  test.database.rows(Prisma.sql`
    SELECT (m.data ->> 'available_micros')::bigint AS available, (m.data ->> 'held_micros')::bigint AS held
    FROM webhook_messages m JOIN webhook_endpoints e ON e.id = m.endpoint_id
    WHERE e.account_id = ${accountId}::uuid AND m.type = 'credits.low' ORDER BY m.id`);
/** A job that costs this much. */
async function spend(jobs: CreditJobs, micros: bigint): Promise<void> {
  await jobs.submit(micros + 1_000n, PRICE);
  const claimed = await jobs.start();
  if (claimed === null) throw new Error('nothing was claimed');
  await jobs.end(claimed, Number(micros / (PRICE / 1_000n)), 'succeeded');
}

describe('low credits are a message to the account', () => {
  it('when a charge takes it below its limit, once until it has had as much again', async () => {
    const jobs = await withAlert(100_000n, 50_000n);
    await spend(jobs, 40_000n);
    expect(await messages(jobs)).toEqual([]);
    await spend(jobs, 20_000n);
    await spend(jobs, 10_000n);
    expect(await messages(jobs)).toEqual([{ available: 40_000n, held: 0n }]);
    await jobs.grant(10_000n);
    await spend(jobs, 5_000n);
    expect(await messages(jobs)).toHaveLength(1);
    await jobs.grant(20_000n);
    await spend(jobs, 10_000n);
    expect(await messages(jobs)).toHaveLength(2);
  });

  it('not when jobs hold credits: they give back what they do not use', async () => {
    const jobs = await withAlert(100_000n, 50_000n);
    const held = await jobs.submit(90_000n, PRICE);
    expect(await jobs.balance()).toEqual({ availableMicros: 10_000n, heldMicros: 90_000n });
    await jobs.cancelQueued(held ?? '');
    expect(await messages(jobs)).toEqual([]);
  });

  it('when a run that outlasts its hold leaves less available than that', async () => {
    const jobs = await withAlert(100_000n, 50_000n);
    await jobs.submit(30_000n, PRICE);
    const claimed = await jobs.start();
    if (claimed === null) throw new Error('nothing was claimed');
    await jobs.beat(claimed, 3_000);
    expect(await messages(jobs)).toEqual([]);
    await jobs.beat(claimed, 29_000);
    expect(await messages(jobs)).toEqual([{ available: 10_000n, held: 90_000n }]);
    await jobs.beat(claimed, 89_000);
    await jobs.end(claimed, 95_000, 'succeeded');
    expect(await messages(jobs)).toHaveLength(1);
    expect(await jobs.findings()).toEqual([]);
  });

  it('when credits expire or are taken back, and never where the limit is 0', async () => {
    const [expiring, never] = [await withAlert(0n, 50_000n), await withAlert(60_000n, 0n)];
    await expiring.grant(60_000n, 1);
    await expiring.billing.credits.expire(expiring.accountId, 0, new Date(Date.now() + 2 * 86_400_000));
    expect(await messages(expiring)).toEqual([{ available: 0n, held: 0n }]);
    await never.adjust({ amountMicros: -60_000n });
    expect(await messages(never)).toEqual([]);
  });

  it('when its limit is lowered below what it has and then crossed', async () => {
    const jobs = await withAlert(100_000n, 90_000n);
    await spend(jobs, 20_000n);
    await new CreditAlertStore().set(test.database, jobs.accountId, 70_000n);
    expect(await messages(jobs)).toHaveLength(1);
    await spend(jobs, 20_000n);
    expect(await messages(jobs)).toHaveLength(2);
  });

  it('not when what crosses it is undone', async () => {
    const jobs = await withAlert(100_000n, 50_000n);
    const { credits } = jobs.billing;
    const take = { amountMicros: -60_000n, reason: 'a test', expiresAt: null, corrects: null, key: null };
    const undone = test.database.transaction(async (tx) => {
      await credits.adjust(tx, 'test', jobs.accountId, take);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await messages(jobs)).toEqual([]);
    await jobs.adjust({ amountMicros: -60_000n });
    expect(await messages(jobs)).toHaveLength(1);
  });
});

it('many jobs that end at once cross it once', async () => {
  const jobs = await withAlert(100_000n, 50_000n);
  for (let at = 0; at < 10; at += 1) await jobs.submit(9_000n, PRICE);
  const claimed: ClaimedAttempt[] = [];
  for (let next = await jobs.start(); next !== null; next = await jobs.start()) claimed.push(next);
  await Promise.all(claimed.map((attempt) => jobs.end(attempt, 9_000, 'succeeded')));
  expect(await jobs.balance()).toEqual({ availableMicros: 10_000n, heldMicros: 0n });
  expect(await messages(jobs)).toHaveLength(1);
});

it(`each crossing is one message, while all happens to the account at once (seed ${SEED})`, async () => {
  const below = 1_500_000n;
  const race = await CreditRace.open(test, 2_000_000n);
  await alert(race.jobs.accountId, below);
  await watchBalances();
  const steps = fc.sample(
    // Extensions of holds have a rule of their own, which is tested above.
    raceStep.filter(({ kind }) => kind !== 'beat'),
    { numRuns: ACTORS * STEPS, seed: SEED },
  );
  const act = async (actor: number): Promise<void> => {
    for (const step of steps.slice(actor * STEPS, (actor + 1) * STEPS)) await race.take(step);
  };
  await Promise.all(Array.from({ length: ACTORS }, (_, actor) => act(actor)));
  // Crossings for certain, in any order of the steps.
  const { availableMicros, heldMicros } = await race.jobs.balance();
  await new CreditAlertStore().set(test.database, race.jobs.accountId, availableMicros + heldMicros + 5n);
  for (let time = 0; time < 3; time += 1) {
    await race.jobs.grant(10n);
    await race.jobs.adjust({ amountMicros: -10n });
  }
  const expected = crossings(await seenOf(race.jobs.accountId));
  expect(expected).toBeGreaterThan(2);
  expect(await messages(race.jobs)).toHaveLength(expected);
});

interface Seen {
  before: bigint;
  after: bigint;
  below: bigint;
  belowBefore: bigint;
}

/** Keeps every change of a balance in the order in which PostgreSQL makes them: a row is locked while it changes. */
async function watchBalances(): Promise<void> {
  await test.database.execute(Prisma.sql`
    CREATE TABLE seen (n bigserial, account_id uuid, before bigint, after bigint, below bigint, below_before bigint)`);
  await test.database.execute(Prisma.sql`
    CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO seen (account_id, before, after, below, below_before) VALUES (NEW.account_id, OLD.available_micros + OLD.held_micros,
        NEW.available_micros + NEW.held_micros, NEW.alert_below_micros, OLD.alert_below_micros);
      RETURN NULL; END $$`);
  await test.database.execute(
    Prisma.sql`CREATE TRIGGER see AFTER UPDATE ON balances FOR EACH ROW EXECUTE FUNCTION see()`,
  );
}
const seenOf = (accountId: string): Promise<Seen[]> =>
  test.database.rows(Prisma.sql`
    SELECT before, after, below, below_before FROM seen WHERE account_id = ${accountId}::uuid ORDER BY n`);

/** How often a balance falls below its limit, each time only after it has had as much. */
function crossings(changes: readonly Seen[]): number {
  let isLow = false;
  let count = 0;
  for (const { before, after, below, belowBefore } of changes) {
    if (!isLow && after < before && after < below) {
      isLow = true;
      count += 1;
    } else if (isLow && after >= below && (after > before || below !== belowBefore)) {
      isLow = false;
    }
  }
  return count;
}
