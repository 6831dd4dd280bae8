import { Prisma } from '@prisma/client';
import { Metrics, readSettings, type Loop } from '@millrace/platform';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { JobWorld } from '../fixtures/job-world';
import { jobSettings } from '../job.settings';
import { requestCancel } from './cancel.store';
import { listCanceledJobs, listLostJobs, listOverdueJobs, listOvertimeJobs, type DueJob } from './due-jobs.store';
import { EndCanceledJobsLoop } from './end-canceled-jobs.loop';
import { EndOvertimeJobsLoop } from './end-overtime-jobs.loop';
import { ExpireOverdueJobsLoop } from './expire-overdue-jobs.loop';
import { Lifecycle } from './lifecycle.service';
import { RescueLostJobsLoop } from './rescue-lost-jobs.loop';

const LIMIT_SECONDS = 60;

let test: TestDatabase;
let world: JobWorld;
beforeEach(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
});
afterEach(() => test.drop());

const lifecycle = (): Lifecycle =>
  new Lifecycle(
    test.database,
    { moved: () => undefined, lastProgress: () => Promise.resolve(null) },
    () => undefined,
    new Metrics('test'),
    { ...readSettings(jobSettings, {}), attemptLimitSeconds: LIMIT_SECONDS, holdExtensionSeconds: 60 },
  );

/** A job of an account of its own that a loop has to move, and that became due so many seconds ago. */
type MakeDue = (secondsAgo: number) => Promise<string>;
type List = (after: string | null, limit: number) => Promise<DueJob[]>;

const sql = (statement: Prisma.Sql): Promise<number> => test.database.execute(statement);

async function started(): Promise<{ id: string; accountId: string }> {
  const job = await world.submit();
  await world.start(job);
  return job;
}

const lost: MakeDue = async (secondsAgo) => {
  const { id } = await started();
  await sql(Prisma.sql`
    UPDATE jobs SET lease_expires_at = now() - make_interval(secs => ${secondsAgo}) WHERE id = ${id}::uuid`);
  return id;
};
const canceled: MakeDue = async () => {
  const job = await started();
  await requestCancel(
    test.database,
    { accountId: job.accountId, surface: 'cloud', deploymentId: null, labels: null },
    job.id,
  );
  await sql(Prisma.sql`
    UPDATE jobs SET delivery = 'waiting', worker_id = NULL, lease_token = NULL, lease_expires_at = NULL, dispatched_at = NULL
    WHERE id = ${job.id}::uuid`);
  await sql(Prisma.sql`
    UPDATE account_queues SET in_flight = 0, waiting = 1 WHERE account_id = ${job.accountId}::uuid`);
  return job.id;
};
const overdue: MakeDue = async (secondsAgo) => {
  const { id } = await started();
  await sql(Prisma.sql`
    UPDATE jobs SET deadline_at = now() - make_interval(secs => ${secondsAgo}) WHERE id = ${id}::uuid`);
  return id;
};
const overtime: MakeDue = async () => {
  const { id } = await started();
  await world.claimedSecondsAgo(id, LIMIT_SECONDS + 600);
  return id;
};

/** The counters of its account say that the job is not there: no statement can move it. */
const poison = (id: string): Promise<number> =>
  sql(Prisma.sql`
    UPDATE account_queues SET in_flight = 0, waiting = 0 WHERE account_id = (SELECT account_id FROM jobs WHERE id = ${id}::uuid)`);

const chores: [string, MakeDue, () => Loop, List][] = [
  [
    'a lost job',
    lost,
    () => new RescueLostJobsLoop(test.database, lifecycle()),
    (after, limit) => listLostJobs(test.database, after, limit),
  ],
  [
    'a job to be canceled between attempts',
    canceled,
    () => new EndCanceledJobsLoop(test.database, lifecycle()),
    (after, limit) => listCanceledJobs(test.database, after, limit),
  ],
  [
    'an overdue job',
    overdue,
    () => new ExpireOverdueJobsLoop(test.database, lifecycle()),
    (after, limit) => listOverdueJobs(test.database, after, limit),
  ],
  [
    'a job that takes too long',
    overtime,
    () => new EndOvertimeJobsLoop(test.database, lifecycle(), LIMIT_SECONDS),
    (after, limit) => listOvertimeJobs(test.database, LIMIT_SECONDS, after, limit),
  ],
];

describe.each(chores)('%s', (_what, makeDue, makeLoop, list) => {
  it('that cannot be moved does not keep the others from being moved, and rests', async () => {
    const bad = await makeDue(20);
    const good = await makeDue(10);
    await poison(bad);
    const failed: string[] = [];
    const report = { failed: (item: string) => void failed.push(item), resting: () => undefined };
    const loop = makeLoop();
    expect(await loop.runOnce(report)).toBe(1);
    expect(await loop.runOnce(report)).toBe(0);
    expect(failed).toEqual([bad]);
    const { delivery, status } = await test.database.models.job.findUniqueOrThrow({ where: { id: good } });
    expect(delivery === 'done' || (delivery === 'waiting' && status === 'running')).toBe(true);
  });

  it('has its turn page by page, once', async () => {
    const ids = [await makeDue(30), await makeDue(20), await makeDue(20), await makeDue(10)];
    const met: string[] = [];
    for (
      let page = await list(null, 2);
      page.length > 0 && met.length < 100;
      page = await list(page.at(-1)?.turn ?? null, 2)
    ) {
      met.push(...page.map(({ id }) => id));
    }
    expect(met).toHaveLength(ids.length);
    expect(new Set(met)).toEqual(new Set(ids));
    expect(met.at(0)).toBe(ids.at(0));
  });
});
