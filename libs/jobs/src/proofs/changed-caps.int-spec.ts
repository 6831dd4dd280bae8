import { createHash } from 'node:crypto';
import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { RefusedError, besideTransaction } from '@millrace/database';
import { createTestDatabase, eventually, onOneDay, type TestDatabase } from '@millrace/testing';
import { CreditJobs } from '../fixtures/credit-jobs';
import { endingOf } from '../fixtures/job-world';
import { LabelRuleStore, composeLabelRules, labelRefusal } from '../labels';
import { NOTHING_SUMMED, composeSpendCaps, noteCapReached, type SpendCap, type SpendCapDraft } from '../spend';
import { endJob } from '../lifecycle/end.store';

/** A second costs as much: a millisecond, one. */
const PRICE = 1_000n;

let test: TestDatabase;
let jobs: CreditJobs;
beforeAll(async () => {
  test = await createTestDatabase(4);
});
beforeEach(() => onOneDay());
beforeEach(async () => {
  jobs = await CreditJobs.make(test, 10_000_000n);
});
afterAll(() => test.drop());

const none: SpendCapDraft = {
  ...{ scope: 'key', keyId: null, dailyMicros: null, monthlyMicros: null },
  ...{ dailyAtCap: 'stop', monthlyAtCap: 'stop' },
};
const put = (draft: Partial<SpendCapDraft>): Promise<SpendCap> =>
  test.database.transaction((tx) =>
    composeSpendCaps(test.database).put(tx, jobs.accountId, { ...none, ...draft }, NOTHING_SUMMED),
  );
const remove = ({ id }: { id: string }): Promise<unknown> =>
  test.database.transaction((tx) => composeSpendCaps(test.database).delete(tx, jobs.accountId, id));
async function makeKey(): Promise<string> {
  const id = newId();
  const key = { name: 'a key', keyHash: createHash('sha256').update(id).digest(), lastFour: 'abcd', scopes: [] };
  await test.database.models.apiKey.create({ data: { id, accountId: jobs.accountId, ...key } });
  return id;
}
const submit = (holdMicros: bigint, terms: { apiKeyId?: string; metadata?: Record<string, string> }) =>
  jobs.world.submit({ holdMicros, priceMicrosPerSecond: PRICE, ...terms });
/** Whether a submission is refused. Notes the refusal, as a submission does. */
async function isRefused(...[holdMicros, terms]: Parameters<typeof submit>): Promise<boolean> {
  try {
    await submit(holdMicros, terms);
    return false;
  } catch (error) {
    if (!(error instanceof RefusedError) || labelRefusal(error.reason) === null) throw error;
    await noteCapReached(test.database, jobs.accountId, error);
    return true;
  }
}
/** A job that costs so much. */
async function spend(micros: bigint, terms: { apiKeyId?: string; metadata?: Record<string, string> }): Promise<void> {
  await submit(micros, terms);
  const claimed = await jobs.start();
  if (claimed === null) throw new Error('nothing was claimed');
  await jobs.end(claimed, Number(micros), 'succeeded');
}
const spentToday = async (key: string): Promise<bigint> =>
  (await new LabelRuleStore().use(test.database, jobs.accountId, '@key', key))?.dayMicros ?? 0n;
const sweep = (): Promise<number> => new LabelRuleStore().sweepUse(test.database, 1_000);

describe('what is swept', () => {
  const events = async (): Promise<number> =>
    (
      await test.database.rows(Prisma.sql`
        SELECT FROM webhook_messages m JOIN webhook_endpoints e ON e.id = m.endpoint_id WHERE e.account_id = ${jobs.accountId}::uuid`)
    ).length;
  const rows = (): Promise<number> => test.database.models.labelUse.count({ where: { accountId: jobs.accountId } });
  /** Change what the trigger has written. */
  const pretend = (change: Prisma.Sql): Promise<void> =>
    test.database.transaction(async (tx) => {
      await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
      await tx.execute(Prisma.sql`UPDATE label_use SET ${change} WHERE account_id = ${jobs.accountId}::uuid`);
    });
  beforeEach(async () => {
    const endpoint = { url: 'https://receiver.example.com/', origin: 'https://a.example' };
    await test.database.models.webhookEndpoint.create({
      data: { id: newId(), accountId: jobs.accountId, ...endpoint, eventTypes: ['spend.warning'] },
    });
  });

  it.each(['dailyMicros', 'monthlyMicros'])(
    'is no warning of this day and month, so that none comes twice (%s)',
    async (limit) => {
      await put({ scope: 'account', [limit]: 10n });
      for (let hour = 0; hour < 3; hour += 1) {
        expect(await isRefused(20n, {})).toBe(true);
        await pretend(Prisma.sql`day_mail = 0, month_mail = 0`);
        await sweep();
      }
      expect(await events()).toBe(1);
      await pretend(Prisma.sql`warned_on = warned_on - 40`);
      await sweep();
      expect(await rows()).toBe(0);
    },
  );

  it.each(['day_mail', 'month_mail'])('is no mail that is to be sent (%s)', async (mail) => {
    await put({ scope: 'account', dailyMicros: 10n });
    await isRefused(20n, {});
    await pretend(Prisma.sql`warned_on = warned_on - 40, day_mail = 0, month_mail = 0`);
    await pretend(Prisma.sql`${Prisma.raw(mail)} = 50`);
    await sweep();
    expect(await rows()).toBe(1);
  });

  it.each(['dailyMicros', 'monthlyMicros'])('is no cap that is used up (%s)', async (limit) => {
    const { id } = await submit(50n, {});
    await put({ scope: 'account', [limit]: 40n });
    await endJob(test.database, { kind: 'queued', scope: jobs.scope, jobId: id }, endingOf('canceled_while_queued'));
    await pretend(Prisma.sql`warned_on = warned_on - 40, day_mail = 0, month_mail = 0`);
    await sweep();
    expect(await isRefused(1n, {})).toBe(true);
    await pretend(Prisma.sql`warned_on = warned_on - 40, day_stopped_on = day_stopped_on - 40,
      month_stopped_on = month_stopped_on - 40, day_mail = 0, month_mail = 0`);
    await sweep();
    expect(await rows()).toBe(0);
  });
});

describe('a cap of a key beside that of each key', () => {
  it('leaves what was counted to that of each key when it is deleted, and what it stopped goes on', async () => {
    const key = await makeKey();
    await put({ dailyMicros: 100_000n });
    const own = await put({ keyId: key, dailyMicros: 50_000n });
    await spend(50_000n, { apiKeyId: key });
    expect(await isRefused(1_000n, { apiKeyId: key })).toBe(true);
    await remove(own);
    expect(await spentToday(key)).toBe(50_000n);
    expect(await isRefused(60_000n, { apiKeyId: key })).toBe(true);
    expect(await isRefused(40_000n, { apiKeyId: key })).toBe(false);
  });

  it('is as it was when that of each key is changed and deleted', async () => {
    const [key, other] = [await makeKey(), await makeKey()];
    await put({ keyId: key, dailyMicros: 50_000n });
    await spend(40_000n, { apiKeyId: key });
    await test.database.execute(Prisma.sql`
      UPDATE label_use SET day_stopped_on = now() AT TIME ZONE 'UTC' WHERE account_id = ${jobs.accountId}::uuid AND value = ${key}`);
    const each = await put({ dailyMicros: 90_000n });
    await spend(30_000n, { apiKeyId: other });
    await put({ dailyMicros: 80_000n });
    expect(await isRefused(1_000n, { apiKeyId: key })).toBe(true);
    await remove(each);
    expect(await spentToday(key)).toBe(40_000n);
    expect(await isRefused(1_000n, { apiKeyId: key })).toBe(true);
    expect(await spentToday(other)).toBe(0n);
    expect(await isRefused(100_000n, { apiKeyId: other })).toBe(false);
  });
});

it('a cap that is set again counts what jobs hold that came meanwhile', async () => {
  const first = await put({ scope: 'account', dailyMicros: 100_000n });
  await submit(10_000n, {});
  await remove(first);
  await submit(20_000n, {});
  expect(await put({ scope: 'account', dailyMicros: 100_000n })).toMatchObject({ heldMicros: 30_000n });
});

it('the rule of a value that is deleted stops nothing under the rule of every value', async () => {
  const rules = composeLabelRules(test.database);
  const limits = { maxJobs: null, monthlyMicros: null, retentionSeconds: null, monthlyAtCap: null };
  const rule = (value: string | null, dailyMicros: bigint): Promise<{ id: string }> =>
    test.database.transaction((tx) =>
      rules.put(tx, jobs.accountId, { label: 'user', value, dailyMicros, dailyAtCap: 'stop', ...limits }),
    );
  const metadata = { user: 'ada' };
  await rule(null, 100_000n);
  const own = await rule('ada', 20_000n);
  await spend(20_000n, { metadata });
  expect(await isRefused(1_000n, { metadata })).toBe(true);
  await test.database.transaction((tx) => rules.delete(tx, jobs.accountId, own.id));
  expect(await isRefused(80_000n, { metadata })).toBe(false);
});

it('a cap that waits for a job which ends has locked nothing by which other jobs are counted', async () => {
  const key = await makeKey();
  await put({ keyId: key, dailyMicros: 50_000n });
  await submit(10_000n, { apiKeyId: key });
  const uncounted = await submit(10_000n, { apiKeyId: await makeKey() });
  let set: Promise<unknown> | undefined;
  await test.database.transaction(async (tx) => {
    await tx.query(Prisma.sql`SELECT FROM jobs WHERE id = ${uncounted.id}::uuid FOR UPDATE`);
    set = besideTransaction(() => put({ dailyMicros: 90_000n }));
    set.catch(() => undefined);
    await eventually('the cap to wait', async () => {
      const waiting = Prisma.sql`
        SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return (await besideTransaction(() => test.database.query(waiting))).length > 0;
    });
    await tx.query(Prisma.sql`SELECT FROM label_use WHERE account_id = ${jobs.accountId}::uuid FOR UPDATE NOWAIT`);
  });
  await set;
  expect(await isRefused(90_000n, { apiKeyId: uncounted.apiKeyId ?? '' })).toBe(true);
});
