import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Prisma } from '@prisma/client';
import pg from 'pg';
import { newId } from '@millrace/contracts';
import { RefusedError, besideTransaction } from '@millrace/database';
import { createTestDatabase, eventually, onOneDay, type TestDatabase } from '@millrace/testing';
import { JobAudit } from '../audit';
import { CreditJobs } from '../fixtures/credit-jobs';
import { endingOf } from '../fixtures/job-world';
import { LabelRuleStore, labelOutlook, labelRefusal } from '../labels';
import {
  AdoptCappedJobsLoop,
  RecountKeyCapsLoop,
  SpendCapStore,
  NOTHING_SUMMED,
  composeSpendCaps,
  type SpendCap,
  type SpendCapDraft,
} from '../spend';
import { GroupStore } from '../submission';
import { jobSettings } from '../job.settings';
import { readSettings } from '@millrace/platform';

/** A second costs as much: a millisecond, one. */
const PRICE = 1_000n;
const HOLD = 1_000n;

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
  ...{ scope: 'key', keyId: null, dailyMicros: HOLD, monthlyMicros: null },
  ...{ dailyAtCap: 'stop', monthlyAtCap: 'stop' },
};
const put = (draft: Partial<SpendCapDraft> = {}): Promise<SpendCap> =>
  test.database.transaction((tx) =>
    composeSpendCaps(test.database).put(tx, jobs.accountId, { ...none, ...draft }, NOTHING_SUMMED),
  );
const listed = async (): Promise<(string | null)[]> =>
  (await composeSpendCaps(test.database).list(jobs.accountId)).map(({ value }) => value);
/** @param spendsFor keys for which it counts beside itself. */
async function makeKey(...spendsFor: string[]): Promise<string> {
  const id = newId();
  const key = { name: 'a key', keyHash: createHash('sha256').update(id).digest(), lastFour: 'abcd', scopes: [] };
  const spendKeys = spendsFor.length > 0 ? [id, ...spendsFor] : undefined;
  await test.database.models.apiKey.create({ data: { id, accountId: jobs.accountId, spendKeys, ...key } });
  return id;
}
async function rotate(id: string): Promise<string> {
  const rotatedTo = await makeKey();
  await test.database.models.apiKey.update({ where: { id }, data: { rotatedTo } });
  return rotatedTo;
}
const terms = (apiKeyId: string) => ({ holdMicros: HOLD, priceMicrosPerSecond: PRICE, apiKeyId });
/** Whether a submission is accepted. The outlook must have said the same. */
async function isAccepted(apiKeyId: string): Promise<boolean> {
  const asked = { accountId: jobs.accountId, apiKeyId, metadata: {}, holdMicros: HOLD };
  const expected = (await labelOutlook(test.database, asked)) === null;
  let accepted = true;
  try {
    await jobs.world.submit(terms(apiKeyId));
  } catch (error) {
    if (!(error instanceof RefusedError) || labelRefusal(error.reason)?.code !== 'spend_cap') throw error;
    accepted = false;
  }
  expect(expected).toBe(accepted);
  return accepted;
}
async function finish(ms: number): Promise<void> {
  const claimed = await jobs.start();
  if (claimed === null) throw new Error('nothing was claimed');
  await jobs.end(claimed, ms, 'succeeded');
}
/** @param part of the migration. */
async function migrate(name: string, part = (sql: string): string => sql): Promise<void> {
  const file = join(process.cwd(), 'prisma/migrations', name, 'migration.sql');
  const sql = part(readFileSync(file, 'utf8'));
  const migration = new pg.Client({ connectionString: test.url });
  await migration.connect();
  await migration.query(sql).finally(() => migration.end());
}
const useOf = (key: string) => new LabelRuleStore().use(test.database, jobs.accountId, '@key', key);
async function auditOf(): Promise<string[]> {
  const found: string[] = [];
  for await (const { check } of new JobAudit(test.database).findings()) found.push(check);
  return found;
}

describe('the cap of a key', () => {
  it('goes on with its successors, while it runs and once it has ended', async () => {
    const first = await makeKey();
    await put({ keyId: first });
    expect(await isAccepted(first)).toBe(true);
    const second = await rotate(first);
    expect(await isAccepted(second)).toBe(false);
    const third = await rotate(second);
    await finish(Number(HOLD));
    expect(await isAccepted(third)).toBe(false);
    expect(await useOf(first)).toMatchObject({ live: 0, heldMicros: 0n, dayMicros: HOLD });
    expect(await auditOf()).toEqual([]);
  });

  it('counts what the keys that it made submit, and not what it submits by theirs', async () => {
    const maker = await makeKey();
    const made = await makeKey(maker);
    await put({ keyId: maker, dailyMicros: 2n * HOLD });
    await put({ keyId: made });
    expect(await isAccepted(made)).toBe(true);
    expect(await isAccepted(made)).toBe(false);
    expect(await isAccepted(maker)).toBe(true);
    expect(await isAccepted(maker)).toBe(false);
    await finish(400);
    await finish(400);
    expect(await useOf(maker)).toMatchObject({ live: 0, heldMicros: 0n, dayMicros: 800n });
    expect(await useOf(made)).toMatchObject({ live: 0, heldMicros: 0n, dayMicros: 400n });
    expect(await auditOf()).toEqual([]);
  });

  it('is the same whichever key of its line it names, and is shown as that of the latest', async () => {
    const first = await makeKey();
    const second = await rotate(first);
    const { id } = await put({ keyId: second });
    expect(await isAccepted(first)).toBe(true);
    expect(await put({ keyId: first, dailyMicros: 2n * HOLD })).toMatchObject({ id, value: second });
    expect(await isAccepted(second)).toBe(true);
    expect(await isAccepted(second)).toBe(false);
    const third = await rotate(second);
    expect(await listed()).toEqual([third]);
  });

  it('counts jobs that run, and what was charged, of its successors and of what they made', async () => {
    const first = await makeKey();
    const second = await rotate(first);
    const made = await makeKey(first);
    for (const key of [first, second, made]) expect(await isAccepted(key)).toBe(true);
    await finish(100);
    expect(await put({ keyId: second, dailyMicros: 3n * HOLD })).toMatchObject({
      dayMicros: 100n,
      heldMicros: 2n * HOLD,
    });
    await put({ keyId: null });
    expect(await isAccepted(made)).toBe(false);
    await finish(100);
    await finish(100);
    expect(await useOf(first)).toMatchObject({ live: 0, heldMicros: 0n, dayMicros: 300n });
    expect(await auditOf()).toEqual([]);
  });

  it('holds where jobs are recorded in groups, and extends no hold beyond it', async () => {
    const first = await makeKey();
    const [second, made] = [await rotate(first), await makeKey(first)];
    await put({ keyId: first, dailyMicros: 3n * HOLD });
    const groups = new GroupStore(readSettings(jobSettings, {}));
    const drafts = await Promise.all([first, second, made].map((key) => jobs.world.draft(terms(key))));
    await groups.record(test.database, drafts, 5_000);
    const one = await jobs.world.draft(terms(made));
    await expect(groups.record(test.database, [one], 5_000)).rejects.toThrow('label_spend_limit');
    const claimed = await jobs.start();
    if (claimed === null) throw new Error('nothing was claimed');
    expect((await jobs.beat(claimed, 5_000))?.exhausted).toBe(true);
    expect(await useOf(first)).toMatchObject({ live: 3, heldMicros: 3n * HOLD });
    expect(await auditOf()).toEqual([]);
  });
});

describe('a cap of each key', () => {
  it('gives a key that is rotated again and again no new allowance', async () => {
    await put();
    let key = await makeKey();
    const accepted: boolean[] = [];
    for (let time = 0; time < 4; time += 1) {
      accepted.push(await isAccepted(key));
      key = await rotate(key);
    }
    expect(accepted).toEqual([true, false, false, false]);
  });

  it('is of each key by itself, and of what it made with it', async () => {
    await put();
    const [maker, other] = [await makeKey(), await makeKey()];
    const made = await makeKey(maker);
    expect(await isAccepted(made)).toBe(true);
    expect(await isAccepted(maker)).toBe(false);
    expect(await isAccepted(other)).toBe(true);
    expect(await auditOf()).toEqual([]);
  });
});

describe('a submission', () => {
  const groups = new GroupStore(readSettings(jobSettings, {}));
  /** How often it looks at which keys its own counts for, recorded alone and in a group. */
  async function looks(apiKeyId: string): Promise<number> {
    const drafts = [await jobs.world.draft(terms(apiKeyId)), await jobs.world.draft(terms(apiKeyId))] as const;
    return test.database.transaction(async (tx) => {
      /** Of this transaction, and of those before it that the session has not reported yet. */
      const calls = async (): Promise<number> => {
        const [row] = await tx.rows<{ calls: number }>(Prisma.sql`
          SELECT coalesce(sum(calls), 0)::int AS calls FROM pg_stat_xact_user_functions WHERE funcname = 'spend_keys_of'`);
        return row?.calls ?? 0;
      };
      await tx.execute(Prisma.sql`SET LOCAL track_functions = 'pl'`);
      const before = await calls();
      await jobs.world.submissions.record(tx, drafts[0]);
      await groups.record(tx, [drafts[1]], 5_000);
      return (await calls()) - before;
    });
  }

  it('looks at its key only where the account has a cap of keys', async () => {
    const key = await makeKey();
    await put({ scope: 'account', dailyMicros: 10n * HOLD });
    expect(await looks(key)).toBe(0);
    const { id } = await put({ keyId: await makeKey() });
    expect(await looks(key)).toBeGreaterThan(0);
    await test.database.transaction((tx) => composeSpendCaps(test.database).delete(tx, jobs.accountId, id));
    expect(await looks(key)).toBe(0);
  });
});

describe('jobs and keys of the version before', () => {
  const pretend = (sql: Prisma.Sql): Promise<number> => test.database.execute(sql);
  /** As a process of the version before counts what the key submits: by itself alone, where its row is looked for. */
  async function submitAlone(key: string): Promise<void> {
    await jobs.world.submit({ holdMicros: HOLD, priceMicrosPerSecond: PRICE });
    await pretend(Prisma.sql`
      UPDATE jobs SET api_key_id = ${key}::uuid, limited_labels = '{@key}' WHERE account_id = ${jobs.accountId}::uuid AND api_key_id IS NULL`);
    await pretend(Prisma.sql`
      INSERT INTO label_use AS u (account_id, label, value, live, held_micros) VALUES (${jobs.accountId}::uuid, '@key', ${key}, 1, ${HOLD})
      ON CONFLICT (account_id, label, value) DO UPDATE SET live = u.live + 1, held_micros = u.held_micros + ${HOLD}`);
  }
  /** As a process of the version before sets a cap, by the key's own id. */
  const set = (key: string, dailyMicros: bigint): Promise<number> =>
    pretend(Prisma.sql`
      INSERT INTO label_rules AS r (id, account_id, label, value, daily_micros, daily_at_cap)
      VALUES (${newId()}::uuid, ${jobs.accountId}::uuid, '@key', ${key}, ${dailyMicros}, 'stop')
      ON CONFLICT (account_id, label, value) DO UPDATE SET daily_micros = excluded.daily_micros, updated_at = now()`);
  const age = (): Promise<number> =>
    pretend(Prisma.sql`
      UPDATE label_rules SET updated_at = updated_at - interval '1 hour' WHERE account_id = ${jobs.accountId}::uuid`);
  /** A whole round. */
  async function recount(): Promise<void> {
    const loop = new RecountKeyCapsLoop(test.database, new SpendCapStore());
    while ((await loop.runOnce()) > 0);
  }

  it('keep the counts whole, and count by the cap within seconds', async () => {
    const first = await makeKey();
    const second = await rotate(first);
    await put();
    await submitAlone(second);
    expect(await new AdoptCappedJobsLoop(test.database, new SpendCapStore()).runOnce()).toBe(1);
    expect(await isAccepted(first)).toBe(false);
    expect(await auditOf()).toEqual([]);
    await finish(100);
    for (const id of [first, second])
      expect(await useOf(id)).toMatchObject({ live: 0, heldMicros: 0n, dayMicros: 100n });
    expect(await auditOf()).toEqual([]);
  });

  it('come under the cap of their line, and have charged to it what they were, however old the cap is', async () => {
    const first = await makeKey();
    await put({ keyId: first, dailyMicros: 2n * HOLD });
    const second = await rotate(first);
    await submitAlone(second);
    await finish(600);
    await submitAlone(second);
    await age();
    await recount();
    expect(await useOf(first)).toMatchObject({ live: 1, heldMicros: HOLD, dayMicros: 600n, monthMicros: 600n });
    expect(await isAccepted(first)).toBe(false);
    await recount();
    expect(await auditOf()).toEqual([]);
    await finish(100);
    await recount();
    expect(await useOf(first)).toMatchObject({ live: 0, heldMicros: 0n, dayMicros: 700n, monthMicros: 700n });
    expect(await auditOf()).toEqual([]);
  });

  it('come under the cap of each key, and of the one that made theirs, and no other is looked at', async () => {
    const [maker, lone] = [await makeKey(), await makeKey()];
    const made = await makeKey(maker);
    await put({ keyId: lone });
    await put({ keyId: made });
    const counted = async (): Promise<(string | null)[]> => {
      const store = new SpendCapStore();
      const accounts = await store.listWithLines(test.database, { after: null, limit: 1_000 });
      const caps = await store.listOfLines(test.database, jobs.accountId);
      expect(accounts.some(({ accountId }) => accountId === jobs.accountId)).toBe(caps.length > 0);
      return caps.map(({ value }) => value);
    };
    expect(await counted()).toEqual([]);
    await put({ keyId: maker });
    expect(await counted()).toEqual([maker]);
    await put();
    expect((await counted()).sort()).toEqual([maker, null].sort());
    await submitAlone(made);
    await finish(300);
    await recount();
    expect(await useOf(maker)).toMatchObject({ live: 0, dayMicros: 300n });
    expect(await useOf(made)).toMatchObject({ live: 0, dayMicros: 300n });
    expect(await auditOf()).toEqual([]);
  });

  it('have caps set that are those of their line, with what that was charged', async () => {
    const first = await makeKey();
    expect(await isAccepted(first)).toBe(true);
    await finish(400);
    const second = await rotate(first);
    const third = await rotate(second);
    await set(third, 2n * HOLD);
    expect(await listed()).toEqual([third]);
    expect(await useOf(first)).toMatchObject({ dayMicros: 400n, monthMicros: 400n });
    expect(await isAccepted(third)).toBe(true);
    expect(await isAccepted(second)).toBe(false);
    await set(second, 3n * HOLD);
    expect(await listed()).toEqual([third]);
    expect(await isAccepted(first)).toBe(true);
    expect(await auditOf()).toEqual([]);
  });

  it('have caps raised and lowered that decide by what they are then', async () => {
    const first = await makeKey();
    await put({ keyId: first, monthlyMicros: null });
    expect(await isAccepted(first)).toBe(true);
    await finish(Number(HOLD));
    const caps = (): Promise<SpendCap[]> => composeSpendCaps(test.database).list(jobs.accountId);
    expect(await caps()).toMatchObject([{ dayMicros: HOLD, dayStopped: true }]);
    const second = await rotate(first);
    await set(second, 3n * HOLD);
    expect(await caps()).toMatchObject([{ dailyMicros: 3n * HOLD, dayMicros: HOLD, dayStopped: false }]);
    expect(await isAccepted(second)).toBe(true);
    await set(second, HOLD);
    expect(await caps()).toMatchObject([{ dayStopped: true }]);
    expect(await isAccepted(second)).toBe(false);
    expect(await auditOf()).toEqual([]);
  });

  it('have caps that were set so before brought under their line by the migration', async () => {
    const first = await makeKey();
    await put({ keyId: first });
    const second = await rotate(first);
    const [rule] = await test.database.models.labelRule.findMany({ where: { accountId: jobs.accountId } });
    const other = { ...rule, id: newId(), value: second, dailyMicros: 2n * HOLD, updatedAt: new Date(Date.now() + 1) };
    await test.database.transaction(async (tx) => {
      await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
      await tx.models.labelRule.create({ data: other as Prisma.LabelRuleUncheckedCreateInput });
    });
    await migrate('20270108004000_caps_name_first_keys', (sql) => sql.slice(sql.indexOf('DELETE FROM')));
    expect(await listed()).toEqual([second]);
    expect(await isAccepted(second)).toBe(true);
    expect(await isAccepted(first)).toBe(true);
    expect(await isAccepted(second)).toBe(false);
  });

  it('come under the cap of their line with the migration', async () => {
    const first = await makeKey();
    await put({ keyId: first, dailyMicros: 2n * HOLD });
    expect(await isAccepted(first)).toBe(true);
    await finish(Number(HOLD));
    const second = await rotate(first);
    const third = await rotate(second);
    await pretend(Prisma.sql`UPDATE api_keys SET spend_keys = NULL WHERE account_id = ${jobs.accountId}::uuid`);
    expect(await isAccepted(third)).toBe(true);
    await put({ keyId: second, dailyMicros: 3n * HOLD });
    await age();
    await migrate('20270106000100_caps_of_rotated_keys');
    await new AdoptCappedJobsLoop(test.database, new SpendCapStore()).runOnce();
    expect(await listed()).toEqual([third]);
    expect(await useOf(first)).toMatchObject({ live: 1, heldMicros: HOLD, dayMicros: HOLD });
    expect(await isAccepted(third)).toBe(true);
    expect(await isAccepted(third)).toBe(false);
  });

  it('are charged what ends while the migration waits for it', async () => {
    const first = await makeKey();
    await put({ keyId: first, dailyMicros: 9n * HOLD });
    for (const ms of [400, 0]) {
      expect(await isAccepted(first)).toBe(true);
      if (ms > 0) await finish(ms);
    }
    await rotate(first);
    await pretend(Prisma.sql`UPDATE api_keys SET spend_keys = NULL WHERE account_id = ${jobs.accountId}::uuid`);
    const claimed = await jobs.start();
    if (claimed === null) throw new Error('nothing was claimed');
    const waiting = async (): Promise<boolean> =>
      (
        await besideTransaction(() =>
          test.database.query(Prisma.sql`
            SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`),
        )
      ).length > 0;
    let migrating: Promise<void> = Promise.resolve();
    await test.database.transaction(async (tx) => {
      await tx.rows(
        Prisma.sql`SELECT FROM label_use WHERE account_id = ${jobs.accountId}::uuid AND value = ${first} FOR UPDATE`,
      );
      migrating = migrate('20270106000100_caps_of_rotated_keys');
      await eventually('the migration to wait', waiting);
      await jobs.world.end(claimed, endingOf('succeeded', { engineMs: 100 }), tx);
    });
    await migrating;
    expect(await useOf(first)).toMatchObject({ live: 0, heldMicros: 0n, dayMicros: 500n });
    expect(await auditOf()).toEqual([]);
  });
});
