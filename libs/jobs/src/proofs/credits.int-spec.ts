import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { CreditJobs } from '../fixtures/credit-jobs';
import { CreditModel } from '../fixtures/credit-model';
import type { ClaimedAttempt } from '../state/job';

const DAY_MS = 86_400_000;
const GRACE_MS = DAY_MS;
const RUNS = 20;

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase(3);
});
afterAll(() => test.drop());

/** The real thing beside the model. */
interface Real {
  jobs: CreditJobs;
  attempts: Map<string, ClaimedAttempt>;
  /** Days that have passed for grants. */
  day: number;
}
type Command = fc.AsyncCommand<CreditModel, Real>;

/** A command that compares what the account has afterwards. */
function command(
  text: string,
  run: (model: CreditModel, real: Real) => Promise<void>,
  check: (model: Readonly<CreditModel>) => boolean = () => true,
): Command {
  return {
    check,
    toString: () => text,
    run: async (model, real) => {
      await run(model, real);
      const { available: availableMicros, held: heldMicros } = model;
      expect(await real.jobs.balance()).toEqual({ availableMicros, heldMicros });
    },
  };
}

const pick = <T>(list: readonly T[], index: number): T => {
  const item = list[index % list.length];
  if (item === undefined) throw new Error('there is nothing to pick from');
  return item;
};

const attemptOf = (real: Real, jobId: string): ClaimedAttempt => {
  const attempt = real.attempts.get(jobId);
  if (attempt === undefined) throw new Error('the job has no attempt');
  return attempt;
};

const isRunning = (model: Readonly<CreditModel>): boolean => model.running.size > 0;
const index = fc.nat({ max: 50 });
const engineMs = fc.integer({ min: 0, max: 120_000 });
const micros = fc.bigInt({ min: 1n, max: 200_000n });

const grant = fc.tuple(micros, fc.option(fc.integer({ min: 1, max: 4 }))).map(([amount, days]) =>
  command(`grant ${amount} for ${days} days`, async (model, real) => {
    const expiresAt = days === null ? null : new Date(Date.now() + (real.day + days) * DAY_MS);
    await real.jobs.adjust({ amountMicros: amount, expiresAt });
    model.grant(amount, expiresAt);
  }),
);
const submit = fc.tuple(micros, fc.bigInt({ min: 0n, max: 3_000n })).map(([hold, price]) =>
  command(`submit ${hold} at ${price}`, async (model, real) => {
    const jobId = await real.jobs.submit(hold, price);
    expect(jobId !== null).toBe(model.available >= hold);
    if (jobId !== null) model.submit(jobId, hold, price);
  }),
);
const start = fc.constant(
  command(
    'start',
    async (model, real) => {
      const claimed = await real.jobs.start();
      if (claimed === null) throw new Error('a waiting job was not started');
      model.start(claimed.jobId);
      real.attempts.set(claimed.jobId, claimed);
    },
    (model) => model.queued.length > 0,
  ),
);
const beat = fc.tuple(index, engineMs).map(([which, ms]) =>
  command(
    `beat ${which} at ${ms}`,
    async (model, real) => {
      const jobId = pick([...model.running.keys()], which);
      const answer = await real.jobs.beat(attemptOf(real, jobId), ms);
      expect(answer).toEqual({ status: 'running', exhausted: model.beat(jobId, BigInt(ms)), overtime: false });
    },
    isRunning,
  ),
);
const end = fc
  .tuple(index, engineMs, fc.constantFrom('succeeded' as const, 'node_failed' as const))
  .map(([which, ms, how]) =>
    command(
      `end ${which} ${how} at ${ms}`,
      async (model, real) => {
        const jobId = pick([...model.running.keys()], which);
        const moved = await real.jobs.end(attemptOf(real, jobId), ms, how);
        expect(moved?.chargedMicros).toBe(model.end(jobId, BigInt(ms)));
      },
      isRunning,
    ),
  );
const lose = index.map((which) =>
  command(
    `lose ${which}`,
    async (model, real) => {
      const jobId = pick([...model.running.keys()], which);
      const moved = await real.jobs.lose(attemptOf(real, jobId));
      if (moved?.status === 'failed') model.end(jobId, 0n);
      else model.lose(jobId);
    },
    isRunning,
  ),
);
const cancel = index.map((which) =>
  command(
    `cancel ${which}`,
    async (model, real) => {
      const jobId = pick(model.queued, which);
      // One that has run before is not `queued` any more; the statement leaves it alone.
      if ((await real.jobs.cancelQueued(jobId)) !== null) model.end(jobId, 0n);
    },
    (model) => model.queued.length > 0,
  ),
);
const expire = fc.integer({ min: 0, max: 3 }).map((days) =>
  command(`expire after ${days} days`, async (model, real) => {
    real.day += days;
    const at = new Date(Date.now() + real.day * DAY_MS);
    const { credits } = real.jobs.billing;
    expect(await credits.expire(real.jobs.accountId, GRACE_MS, at)).toBe(model.expire(at, GRACE_MS));
  }),
);

describe('credits on PostgreSQL', () => {
  it('are what the rules say, command by command, and every invariant holds at the end', async () => {
    const commands = fc.commands([grant, submit, submit, start, start, beat, beat, end, end, lose, cancel, expire], {
      maxCommands: 40,
      size: 'max',
    });
    await fc.assert(
      fc.asyncProperty(commands, async (list) => {
        const jobs = await CreditJobs.make(test);
        await fc.asyncModelRun(
          () => ({ model: new CreditModel(), real: { jobs, attempts: new Map<string, ClaimedAttempt>(), day: 0 } }),
          list,
        );
        expect(await jobs.findings()).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });
});

describe('an adjustment', () => {
  it('under one key is done once, and refused when it says something else', async () => {
    const jobs = await CreditJobs.make(test);
    await jobs.grant(500n, null, 'k1');
    await jobs.grant(500n, null, 'k1');
    expect((await jobs.balance()).availableMicros).toBe(500n);
    await expect(jobs.grant(501n, null, 'k1')).rejects.toMatchObject({ code: 'idempotency_key_reuse' });
  });

  it('below zero takes back from grants, the latest first, each by a correction that follows it', async () => {
    const jobs = await CreditJobs.make(test);
    await jobs.grant(300n);
    await jobs.grant(200n);
    await jobs.adjust({ amountMicros: -350n, key: 'k2' });
    await jobs.adjust({ amountMicros: -350n, key: 'k2' });
    expect((await jobs.balance()).availableMicros).toBe(150n);
    const { accountId } = jobs;
    const rows = await test.database.models.ledgerTransaction.findMany({
      where: { accountId, kind: 'correction' },
      include: { entries: true, original: { include: { entries: true } } },
      orderBy: { id: 'asc' },
    });
    const amounts = rows.map((row) => [row.original?.entries[0]?.amountMicros, row.entries[0]?.amountMicros]);
    expect(amounts).toEqual([
      [200n, 200n],
      [300n, 150n],
    ]);
    expect(await jobs.findings()).toEqual([]);
  });

  it('never takes what is held or was not granted, and says how much there is', async () => {
    const jobs = await CreditJobs.make(test, 1_000n);
    await jobs.submit(400n, 1n);
    await expect(jobs.adjust({ amountMicros: -601n })).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(jobs.adjust({ amountMicros: -601n })).rejects.toThrow('0.0006 credits');
    await jobs.adjust({ amountMicros: -600n });
    expect(await jobs.balance()).toEqual({ availableMicros: 0n, heldMicros: 400n });
    expect(await jobs.findings()).toEqual([]);
  });

  it('gives back what a job was charged, once', async () => {
    const jobs = await CreditJobs.make(test, 10_000n);
    await jobs.submit(5_000n, 1_000n);
    const claimed = await jobs.start();
    if (claimed === null) throw new Error('nothing was claimed');
    await jobs.end(claimed, 3_000, 'succeeded');
    const { accountId } = jobs;
    const settle = await test.database.models.ledgerTransaction.findFirstOrThrow({
      where: { accountId, kind: 'settle' },
    });
    await jobs.adjust({ amountMicros: 2_000n, corrects: settle.id });
    await expect(jobs.adjust({ amountMicros: 1_001n, corrects: settle.id })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    await jobs.adjust({ amountMicros: 1_000n, corrects: settle.id });
    expect((await jobs.balance()).availableMicros).toBe(10_000n);
    expect(await jobs.findings()).toEqual([]);
  });

  it("cannot reach another account's transactions", async () => {
    const [mine, theirs] = [await CreditJobs.make(test, 10_000n), await CreditJobs.make(test, 10_000n)];
    const where = { accountId: theirs.accountId, kind: 'grant' };
    const grant = await test.database.models.ledgerTransaction.findFirstOrThrow({ where });
    await expect(mine.adjust({ amountMicros: -1n, corrects: grant.id })).rejects.toMatchObject({ code: 'not_found' });
  });
});
