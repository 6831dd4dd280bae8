import fc from 'fast-check';
import pg from 'pg';
import { Prisma } from '@prisma/client';
import { readSettings } from '@millrace/platform';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { BatchWorld, EVERY_OUTCOME, plannedSubmission, type PlannedSubmission } from '../fixtures/submission-batch';
import { noDispatcher } from '../fixtures/no-dispatcher';
import { JobWorld, cloudScope, endingOf } from '../fixtures/job-world';
import { SEED, withinTime } from '../fixtures/operations';
import { JobAudit } from '../audit/job-audit';
import { jobSettings } from '../job.settings';
import { endJob } from '../lifecycle/end.store';
import { GroupStore } from './group.store';
import type { JobDraft } from './submission';
import { LOCK_WAIT_MS, SubmissionGroups } from './submission-groups';
import { INPUT_ASSET_CONSTRAINT, SubmissionStore, type RecordedJob } from './submission.store';

const settings = readSettings(jobSettings, {});
const store = new SubmissionStore(settings);
const groupStore = new GroupStore(settings);
/** Longer than any test: nothing goes on because it is late. */
const NEVER_MS = 600_000;
const EXAMINED_MS = 5_000;

let test: TestDatabase;
let world: JobWorld;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
});
afterAll(() => test.drop());

async function recordAlone(drafts: JobDraft[]): Promise<PromiseSettledResult<RecordedJob>[]> {
  const outcomes: PromiseSettledResult<RecordedJob>[] = [];
  for (const draft of drafts) outcomes.push(...(await Promise.allSettled([store.record(test.database, draft)])));
  return outcomes;
}

/** Record drafts that arrive together, while another is under way. */
async function recordTogether(
  drafts: JobDraft[],
  groups = new SubmissionGroups(test.database, store, groupStore, noDispatcher, NEVER_MS),
): Promise<PromiseSettledResult<RecordedJob>[]> {
  const underWay = groups.record(await world.draft());
  const outcomes = Promise.allSettled(drafts.map((draft) => groups.record(draft)));
  await underWay;
  return outcomes;
}

it(`groups leave what submissions one by one do, and answer the same (seed ${SEED})`, async () => {
  const tally: Record<string, number> = {};
  const spied = jest.spyOn(groupStore, 'record');
  const examine = async (batches: PlannedSubmission[][]): Promise<void> => {
    const [alone, together] = [await BatchWorld.open(test), await BatchWorld.open(test)];
    for (const batch of batches) {
      const draftsIn = async (of: BatchWorld): Promise<JobDraft[]> => {
        const drafts: JobDraft[] = [];
        for (const plan of batch) drafts.push(await of.draftOf(plan, drafts.length));
        return drafts;
      };
      const expected = alone.outcomesOf(await recordAlone(await draftsIn(alone)));
      expect(together.outcomesOf(await recordTogether(await draftsIn(together)))).toEqual(expected);
      expect(await together.rows()).toEqual(await alone.rows());
      for (const outcome of expected) {
        const what = typeof outcome === 'string' ? outcome : 'accepted';
        tally[what] = (tally[what] ?? 0) + 1;
      }
      await Promise.all([alone.passKeys(), together.passKeys()]);
    }
  };
  const batch = fc.array(plannedSubmission, { minLength: 2, maxLength: 12 });
  await fc.assert(fc.asyncProperty(fc.array(batch, { minLength: 2, maxLength: 3 }), withinTime(EXAMINED_MS, examine)), {
    seed: SEED,
    numRuns: 50,
    examples: [[EVERY_OUTCOME]],
    endOnFailure: true,
  });
  const recorded = await Promise.allSettled(spied.mock.results.map((call) => call.value as Promise<unknown>));
  spied.mockRestore();
  // Of both kinds: groups that were recorded whole, and groups that could not be.
  expect(new Set(recorded.map(({ status }) => status)).size).toBe(2);
  const refusals = [
    'idempotency_key_reuse',
    'storage_full',
    'queue_full',
    'insufficient_credits',
    INPUT_ASSET_CONSTRAINT,
  ];
  expect(Object.keys(tally).sort()).toEqual(['accepted', ...refusals].sort());
});

describe('a group', () => {
  it('makes ids in the order of arrival, also within a microsecond', async () => {
    const { accountId, poolId } = await world.draft();
    const drafts: JobDraft[] = [];
    while (drafts.length < 32) drafts.push({ ...(await world.draft({ accountId, poolId, holdMicros: 0n })), id: null });
    await test.database.execute(Prisma.sql`
      ALTER FUNCTION new_job_id() RENAME TO new_job_id_of_the_clock`);
    await test.database.execute(
      Prisma.sql`CREATE FUNCTION new_job_id() RETURNS uuid VOLATILE LANGUAGE sql AS $$ SELECT gen_random_uuid() $$`,
    );
    try {
      const recorded = await groupStore.record(test.database, drafts, NEVER_MS);
      const ids = recorded.map(({ id }) => id);
      expect([...ids].sort()).toEqual(ids);
      expect(recorded.map(({ ahead }) => ahead)).toEqual(ids.map((_, nth) => nth));
    } finally {
      await test.database.execute(Prisma.sql`DROP FUNCTION new_job_id()`);
      await test.database.execute(Prisma.sql`ALTER FUNCTION new_job_id_of_the_clock() RENAME TO new_job_id`);
    }
  });

  it('that meets a locked row does not make others wait for it', async () => {
    const drafts = [await world.draft(), await world.draft(), await world.draft()];
    const [locked] = drafts;
    if (locked === undefined) throw new Error('there is no draft');
    await world.submissions.record(test.database, { ...locked, id: null });
    const holder = new pg.Client({ connectionString: test.url });
    await holder.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT FROM account_queues WHERE account_id = $1 FOR UPDATE', [locked.accountId]);
      const groups = new SubmissionGroups(test.database, store, groupStore, noDispatcher, LOCK_WAIT_MS);
      // They keep all of the drafts waiting, so that these make one group.
      const others = [await world.draft(), await world.draft()];
      const underWay = others.map((other) => groups.record(other));
      const recorded = drafts.map((draft) => groups.record(draft));
      await Promise.all([...underWay, ...recorded.slice(1)]);
      await holder.query('ROLLBACK');
      expect(await recorded[0]).toMatchObject({ ahead: 1 });
    } finally {
      await holder.end();
    }
  });
});

it('groups, single submissions, ends and cancels of the same accounts never wait for each other in a circle', async () => {
  const database = await createTestDatabase(16);
  const busy = new JobWorld(database);
  try {
    const accounts: string[] = [];
    const pools: string[] = [];
    while (accounts.length < 6) accounts.push(await makeAccount(database.database, { micros: 1_000_000_000n }));
    while (pools.length < 3) pools.push((await makePool(database.database)).poolId);
    const pick = (many: string[]): string => many[Math.floor(Math.random() * many.length)] ?? '';
    const draft = async (): Promise<JobDraft> =>
      busy.draft({
        accountId: pick(accounts),
        poolId: pick(pools),
        queueLimit: 10_000,
        idempotencyKey: pick(pools) + Math.random(),
      });
    const submitMany = async (): Promise<void> => {
      const drafts: JobDraft[] = [];
      while (drafts.length < 12) drafts.push(await draft());
      // A group at random: in the order of arrival, which is not that of the rows.
      await groupStore.record(database.database, drafts, NEVER_MS);
    };
    const submitOne = async (): Promise<void> => void (await store.record(database.database, await draft()));
    const runOne = async (): Promise<void> => {
      const dispatched = await busy.dispatch(pick(pools));
      const claimed = dispatched === null ? null : await busy.claim(dispatched);
      if (claimed !== null) await busy.end(claimed);
    };
    const cancelOne = async (): Promise<void> => {
      const job = await database.database.models.job.findFirst({
        where: { status: 'queued', accountId: pick(accounts) },
      });
      if (job === null) return;
      const guard = { kind: 'queued', scope: cloudScope(job.accountId), jobId: job.id } as const;
      await endJob(database.database, guard, endingOf('canceled_while_queued'));
    };
    const repeat = async (act: () => Promise<void>): Promise<void> => {
      for (let nth = 0; nth < 12; nth += 1) await act();
    };
    const acts = [
      submitMany,
      submitMany,
      submitMany,
      submitMany,
      submitOne,
      submitOne,
      runOne,
      runOne,
      cancelOne,
      cancelOne,
    ];
    await Promise.all(acts.map(repeat));
    const findings: unknown[] = [];
    for await (const finding of new JobAudit(database.database).findings()) findings.push(finding);
    expect(findings).toEqual([]);
  } finally {
    await database.drop();
  }
});
