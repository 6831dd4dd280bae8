import { createHash } from 'node:crypto';
import { Prisma } from '@prisma/client';
import { Refusal, newId } from '@millrace/contracts';
import { RefusedError } from '@millrace/database';
import { createTestDatabase, onOneDay, type TestDatabase } from '@millrace/testing';
import { JobAudit } from '../audit';
import { CreditJobs } from '../fixtures/credit-jobs';
import { composeLabelRules, labelRefusal } from '../labels';
import { endJob } from '../lifecycle/end.store';
import { requestCancel } from '../lifecycle/cancel.store';
import { endingOf } from '../fixtures/job-world';
import {
  CancelSpentJobsLoop,
  SpendCapStore,
  NOTHING_SUMMED,
  composeSpendCaps,
  noteCapReached,
  type SpendCap,
  type SpendCapDraft,
} from '../spend';
import { GroupStore } from '../submission';
import { jobSettings } from '../job.settings';
import { readSettings } from '@millrace/platform';

const CONNECTIONS = 10;
const PRICE = 1_000n;

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase(CONNECTIONS);
});
beforeEach(() => onOneDay());
afterAll(() => test.drop());

const none: SpendCapDraft = {
  ...{ scope: 'account', keyId: null, dailyMicros: null, monthlyMicros: null },
  ...{ dailyAtCap: 'finish', monthlyAtCap: 'finish' },
};
const make = (): Promise<CreditJobs> => CreditJobs.make(test, 10_000_000n);
const cap = ({ accountId }: CreditJobs, draft: Partial<SpendCapDraft>): Promise<SpendCap> =>
  test.database.transaction((tx) =>
    composeSpendCaps(test.database).put(tx, accountId, { ...none, ...draft }, NOTHING_SUMMED),
  );
async function standing({ accountId }: CreditJobs, label = '@account', value = ''): Promise<Record<string, unknown>> {
  const [row] = await test.database.rows<Record<string, unknown>>(Prisma.sql`
    SELECT live, held_micros, day_micros, month_micros, day_stopped_on IS NOT NULL AS stopped FROM label_use
    WHERE account_id = ${accountId}::uuid AND label = ${label} AND value = ${value}`);
  return row ?? {};
}
const makeKey = async ({ accountId }: CreditJobs): Promise<string> => {
  const id = newId();
  const key = { name: 'a key', keyHash: createHash('sha256').update(id).digest(), lastFour: 'abcd', scopes: [] };
  await test.database.models.apiKey.create({ data: { id, accountId, ...key } });
  return id;
};
const submit = (jobs: CreditJobs, holdMicros: bigint, apiKeyId: string | null = null): Promise<{ id: string }> =>
  jobs.world.submit({ holdMicros, priceMicrosPerSecond: PRICE, apiKeyId });
/** What refuses it; null where it was accepted. Notes the refusal, as a submission does. */
async function refusedBy(jobs: CreditJobs, submitted: Promise<unknown>): Promise<string | null> {
  try {
    await submitted;
    return null;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    await noteCapReached(test.database, jobs.accountId, error);
    const refusal = labelRefusal(error.reason);
    if (!(refusal instanceof Refusal)) throw error;
    const { scope, limit } = refusal.details as { scope: string; limit: string };
    return `${refusal.code} ${scope} ${limit}`;
  }
}
async function run(jobs: CreditJobs, ms: number): Promise<void> {
  const claimed = await jobs.start();
  if (claimed === null) throw new Error('nothing was claimed');
  await jobs.end(claimed, ms, 'succeeded');
}
const listen = ({ accountId }: CreditJobs): Promise<unknown> =>
  test.database.models.webhookEndpoint.create({
    data: {
      ...{ id: newId(), accountId, url: 'https://receiver.example.com/', origin: 'https://a.example' },
      eventTypes: ['spend.warning'],
    },
  });
async function warnings({ accountId }: CreditJobs): Promise<string[]> {
  const rows = await test.database.rows<{ said: string }>(Prisma.sql`
    SELECT concat_ws(' ', m.data ->> 'scope', m.data ->> 'span', m.data ->> 'percent') AS said
    FROM webhook_messages m JOIN webhook_endpoints e ON e.id = m.endpoint_id WHERE e.account_id = ${accountId}::uuid ORDER BY m.id`);
  return rows.map(({ said }) => said);
}
async function auditOf(): Promise<string[]> {
  const found: string[] = [];
  for await (const { check } of new JobAudit(test.database).findings()) found.push(check);
  return found;
}

describe('a cap of an account', () => {
  it('counts what was charged this day and what jobs hold, of before it was set, too', async () => {
    const jobs = await make();
    await submit(jobs, 50_000n);
    await run(jobs, 40_000);
    await submit(jobs, 30_000n);
    expect(await cap(jobs, { dailyMicros: 100_000n })).toMatchObject({ dayMicros: 40_000n, heldMicros: 30_000n });
    expect(await refusedBy(jobs, submit(jobs, 40_000n))).toBe('spend_cap account daily_micros');
    expect(await refusedBy(jobs, submit(jobs, 30_000n))).toBeNull();
    await run(jobs, 10_000);
    expect(await standing(jobs)).toMatchObject({
      live: 1,
      heldMicros: 30_000n,
      dayMicros: 50_000n,
      monthMicros: 50_000n,
    });
    expect(await auditOf()).toEqual([]);
  });

  it('refuses once it is used up, however little a job holds', async () => {
    const jobs = await make();
    await cap(jobs, { dailyMicros: 1n });
    expect(await refusedBy(jobs, submit(jobs, 1n))).toBeNull();
    const claimed = await jobs.start();
    if (claimed === null) throw new Error('nothing was claimed');
    await jobs.beat(claimed, 1_000);
    await jobs.end(claimed, 1_000, 'succeeded');
    expect(await standing(jobs)).toMatchObject({ heldMicros: 0n, dayMicros: 1_000n });
    expect(await refusedBy(jobs, submit(jobs, 1n))).toBe('spend_cap account daily_micros');
  });

  it('limits a month, too, and a deleted one nothing', async () => {
    const jobs = await make();
    const { id } = await cap(jobs, { monthlyMicros: 50_000n });
    expect(await refusedBy(jobs, submit(jobs, 60_000n))).toBe('spend_cap account monthly_micros');
    const other = await make();
    const remove = (of: CreditJobs): Promise<unknown> =>
      test.database.transaction((tx) => composeSpendCaps(test.database).delete(tx, of.accountId, id));
    await expect(remove(other)).rejects.toThrow('There is no spend cap');
    await expect(
      test.database.transaction((tx) => composeLabelRules(test.database).delete(tx, jobs.accountId, id)),
    ).rejects.toThrow('There is no label rule');
    await remove(jobs);
    expect(await refusedBy(jobs, submit(jobs, 60_000n))).toBeNull();
    expect(await composeLabelRules(test.database).list(jobs.accountId)).toEqual([]);
  });

  it('is never exceeded when jobs come alone and in groups, run on and end at once', async () => {
    const jobs = await make();
    const key = await makeKey(jobs);
    await cap(jobs, { dailyMicros: 200_000n, dailyAtCap: 'stop' });
    await cap(jobs, { scope: 'key', dailyMicros: 120_000n, dailyAtCap: 'stop' });
    const groups = new GroupStore(readSettings(jobSettings, {}));
    // Whichever actor comes first, the key has a share.
    await submit(jobs, 20_000n, key);
    const actor = async (_: unknown, index: number): Promise<void> => {
      for (let time = 0; time < 4; time += 1) {
        const terms = { holdMicros: 20_000n, priceMicrosPerSecond: PRICE, apiKeyId: index % 2 === 0 ? key : null };
        if (index % 3 === 0) {
          const drafts = await Promise.all([jobs.world.draft(terms), jobs.world.draft(terms)]);
          await refusedBy(jobs, groups.record(test.database, drafts, 5_000));
        } else await refusedBy(jobs, jobs.world.submit(terms));
        const claimed = await jobs.start().catch(() => null);
        if (claimed === null) continue;
        await jobs.beat(claimed, 19_000);
        await jobs.end(claimed, 40_000, 'succeeded');
      }
    };
    await Promise.all(Array.from({ length: 8 }, actor));
    for (const [most, ...row] of [
      [200_000n, '@account', ''],
      [120_000n, '@key', key],
    ] as const) {
      const { dayMicros, heldMicros } = (await standing(jobs, ...row)) as { dayMicros: bigint; heldMicros: bigint };
      expect(dayMicros).toBeGreaterThan(0n);
      expect(dayMicros + heldMicros).toBeLessThanOrEqual(most);
    }
    expect(await auditOf()).toEqual([]);
    expect(await jobs.findings()).toEqual([]);
  });

  it('is found by the audit where it was exceeded', async () => {
    const jobs = await make();
    const { id } = await cap(jobs, { dailyMicros: 50_000n, dailyAtCap: 'stop' });
    await test.database.execute(Prisma.sql`
      UPDATE label_rules SET updated_at = now() - interval '1 minute' WHERE id = ${id}::uuid`);
    await submit(jobs, 50_000n);
    expect(await auditOf()).toEqual([]);
    await test.database.execute(Prisma.sql`UPDATE label_rules SET daily_micros = 40000 WHERE id = ${id}::uuid`);
    expect(await auditOf()).toEqual(['no-cap-exceeded']);
    await test.database.execute(Prisma.sql`UPDATE label_rules SET daily_micros = 50000 WHERE id = ${id}::uuid`);
  });
});

describe('a cap of a key', () => {
  it('is its own, and that of each key by itself', async () => {
    const jobs = await make();
    const [first, second] = [await makeKey(jobs), await makeKey(jobs)];
    await cap(jobs, { scope: 'key', dailyMicros: 50_000n });
    await cap(jobs, { scope: 'key', keyId: second, dailyMicros: 90_000n });
    expect(await refusedBy(jobs, submit(jobs, 60_000n, first))).toBe('spend_cap key daily_micros');
    expect(await refusedBy(jobs, submit(jobs, 60_000n, second))).toBeNull();
    expect(await refusedBy(jobs, submit(jobs, 60_000n))).toBeNull();
    await expect(cap(jobs, { scope: 'key', keyId: await makeKey(await make()), dailyMicros: 1n })).rejects.toThrow(
      'key_id',
    );
  });
});

describe('a cap that is used up', () => {
  const loopOf = (jobs: CreditJobs): CancelSpentJobsLoop =>
    new CancelSpentJobsLoop(test.database, new SpendCapStore(), {
      cancel: async (scope, jobId) => {
        const guard = { kind: 'queued', scope, jobId } as const;
        const queued = await endJob(test.database, guard, endingOf('canceled_while_queued'));
        if (queued === null) await requestCancel(test.database, jobs.scope, jobId);
      },
    });
  const statuses = async ({ accountId }: CreditJobs): Promise<string[]> =>
    (await test.database.models.job.findMany({ where: { accountId }, orderBy: { id: 'asc' } })).map(
      ({ status }) => status,
    );

  it('stops what waits and runs, refuses more, and no longer does once it is raised', async () => {
    const jobs = await make();
    await cap(jobs, { dailyMicros: 100_000n, dailyAtCap: 'stop' });
    for (let count = 0; count < 3; count += 1) await submit(jobs, 30_000n);
    const [first, second] = [await jobs.start(), await jobs.start()];
    if (first === null || second === null) throw new Error('nothing was claimed');
    expect((await jobs.beat(first, 25_000))?.exhausted).toBe(false);
    await loopOf(jobs).runOnce();
    expect(await statuses(jobs)).toEqual(['running', 'running', 'queued']);
    expect((await jobs.beat(first, 99_000))?.exhausted).toBe(true);
    expect(await standing(jobs)).toMatchObject({ heldMicros: 100_000n, stopped: true });
    await loopOf(jobs).runOnce();
    expect(await statuses(jobs)).toEqual(['canceling', 'canceling', 'canceled']);
    expect((await jobs.end(first, 99_000, 'credits_exhausted'))?.chargedMicros).toBe(40_000n);
    await jobs.end(second, 10_000, 'canceled_while_running');
    expect(await refusedBy(jobs, submit(jobs, 1_000n))).toBe('spend_cap account daily_micros');
    await cap(jobs, { dailyMicros: 200_000n, dailyAtCap: 'stop' });
    expect(await refusedBy(jobs, submit(jobs, 1_000n))).toBeNull();
    await loopOf(jobs).runOnce();
    expect((await statuses(jobs)).at(-1)).toBe('queued');
    expect(await auditOf()).toEqual([]);
  });

  it('stops what runs when it is set below what is charged', async () => {
    const jobs = await make();
    await submit(jobs, 50_000n);
    await run(jobs, 50_000);
    await submit(jobs, 10_000n);
    expect(await cap(jobs, { monthlyMicros: 40_000n, monthlyAtCap: 'stop' })).toMatchObject({ monthStopped: true });
    await loopOf(jobs).runOnce();
    expect(await statuses(jobs)).toEqual(['succeeded', 'canceled']);
  });

  it('stops no job that costs nothing', async () => {
    const jobs = await make();
    await submit(jobs, 50_000n);
    await run(jobs, 50_000);
    await jobs.world.submit({ holdMicros: 0n, priceMicrosPerSecond: 0n });
    await cap(jobs, { dailyMicros: 40_000n, dailyAtCap: 'stop' });
    await loopOf(jobs).runOnce();
    expect(await statuses(jobs)).toEqual(['succeeded', 'queued']);
  });

  it('lets what runs finish, and refuses more', async () => {
    const jobs = await make();
    await cap(jobs, { dailyMicros: 50_000n, dailyAtCap: 'finish' });
    await submit(jobs, 50_000n);
    const claimed = await jobs.start();
    if (claimed === null) throw new Error('nothing was claimed');
    expect((await jobs.beat(claimed, 70_000))?.exhausted).toBe(false);
    expect(await refusedBy(jobs, submit(jobs, 1n))).toBe('spend_cap account daily_micros');
    await loopOf(jobs).runOnce();
    expect(await statuses(jobs)).toEqual(['running']);
    expect((await jobs.end(claimed, 70_000, 'succeeded'))?.chargedMicros).toBe(70_000n);
    expect(await auditOf()).toEqual([]);
  });
});

describe('a warning', () => {
  it('is an event at 50, 80 and 100 percent, once each, and in the answer of a submission', async () => {
    const jobs = await make();
    await listen(jobs);
    await cap(jobs, { dailyMicros: 100_000n, monthlyMicros: 1_000_000n });
    await submit(jobs, 40_000n);
    expect(await warnings(jobs)).toEqual([]);
    const draft = await jobs.world.draft({ holdMicros: 20_000n, priceMicrosPerSecond: PRICE });
    const [recorded] = await new GroupStore(readSettings(jobSettings, {})).record(test.database, [draft], 5_000);
    expect(recorded?.spend).toEqual([{ label: '@account', day: 50, month: 0 }]);
    await submit(jobs, 1_000n);
    expect(await warnings(jobs)).toEqual(['account day 50']);
    await submit(jobs, 20_000n);
    expect(await warnings(jobs)).toEqual(['account day 50', 'account day 80']);
    expect(await refusedBy(jobs, submit(jobs, 20_000n))).not.toBeNull();
    expect(await refusedBy(jobs, submit(jobs, 20_000n))).not.toBeNull();
    expect(await warnings(jobs)).toEqual(['account day 50', 'account day 80', 'account day 100']);
    // As if all of that had been weeks ago.
    await test.database.transaction(async (tx) => {
      await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
      await tx.execute(
        Prisma.sql`UPDATE label_use SET warned_on = warned_on - 40 WHERE account_id = ${jobs.accountId}::uuid`,
      );
    });
    await submit(jobs, 1_000n);
    expect((await warnings(jobs)).slice(3)).toEqual(['account day 80']);
  });

  it('is made in a submission that is refused for nothing else', async () => {
    const jobs = await make();
    await listen(jobs);
    await cap(jobs, { scope: 'key', dailyMicros: 10n });
    const key = await makeKey(jobs);
    expect(await refusedBy(jobs, submit(jobs, 20n, key))).toBe('spend_cap key daily_micros');
    expect(await warnings(jobs)).toEqual(['key day 100']);
  });
});
