import { Prisma } from '@prisma/client';
import { JOB_ERROR_CODES, TERMINAL_STATUSES } from '@millrace/contracts';
import { Metrics } from '@millrace/platform';
import {
  createTestDatabase,
  eventually,
  makeAccount,
  makePool,
  readingsOf,
  type TestDatabase,
} from '@millrace/testing';
import { JobWorld, cloudScope, endingOf } from '../fixtures/job-world';
import { endJob } from '../lifecycle/end.store';
import { faultOf } from '../state';
import { CountJobsLoop } from './count-jobs.loop';
import { JobMoveStore, type JobMove, type MovePosition } from './job-move.store';

const store = new JobMoveStore();
let test: TestDatabase;
let world: JobWorld;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test, { priceMicrosPerSecond: 0n, holdMicros: 0n });
});
afterAll(() => test.drop());

/** Reads moves as soon as they are there. */
class Prompt extends JobMoveStore {
  constructor(private readonly limit = 2_000) {
    super();
  }

  override next(...[statements, after]: Parameters<JobMoveStore['next']>): Promise<JobMove[]> {
    return super.next(statements, after, 0, this.limit);
  }
}

/** A process that has run for long enough. */
function counting(
  moves: JobMoveStore = new Prompt(),
  databaseTimeoutMs = 15_000,
): { metrics: Metrics; loop: CountJobsLoop } {
  const metrics = new Metrics('maintenance');
  let nowMs = 0;
  const loop = new CountJobsLoop(test.database, moves, metrics, { databaseTimeoutMs }, () => (nowMs += 3_600_000));
  return { metrics, loop };
}

/** Count until nothing more is there. */
async function countAll(...loops: [CountJobsLoop, ...CountJobsLoop[]]): Promise<void> {
  await eventually('all moves are counted', async () => {
    await Promise.all(loops.map((loop) => loop.runOnce()));
    const position = await store.position(test.database);
    return (await store.next(test.database, position, -1, 1)).length === 0;
  });
}

async function endsOf(metrics: Metrics, pool: string): Promise<Record<string, number>> {
  const { values } = await metrics.jobsFinished.get();
  const own = values.filter(({ labels }) => labels.pool === pool);
  return Object.fromEntries(own.map(({ labels, value }) => [`${labels.status} ${labels.fault}`, value]));
}

async function startsOf(metrics: Metrics, pool: string): Promise<{ count: number; within300: number; sum: number }> {
  const { values } = await metrics.startDelaySeconds.get();
  const of = (name: string, le?: number): number =>
    values.find(
      ({ metricName, labels }) =>
        metricName === `millrace_job_start_delay_seconds_${name}` &&
        labels.pool === pool &&
        (labels as { le?: number }).le === le,
    )?.value ?? NaN;
  return { count: of('count'), within300: of('bucket', 300), sum: of('sum') };
}

const NO_ENDS = {
  'succeeded none': 0,
  'canceled none': 0,
  'expired service': 0,
  'failed service': 0,
  'failed caller': 0,
};

describe('the counters of a pool', () => {
  it('begin with 0, for every way in which a job can end, so that its first job is one more', async () => {
    const { metrics } = counting();
    metrics.showPool('a');
    expect(await endsOf(metrics, 'a')).toEqual(NO_ENDS);
    expect(await startsOf(metrics, 'a')).toEqual({ count: 0, within300: 0, sum: 0 });
    const ends = TERMINAL_STATUSES.flatMap((status) =>
      JOB_ERROR_CODES.map((code) => `${status} ${faultOf(status, code)}`),
    );
    expect(new Set(ends)).toEqual(new Set(Object.keys(NO_ENDS)));
  });

  it('go on from what was counted when the pool is shown again', async () => {
    const { metrics } = counting();
    metrics.showPool('a');
    metrics.startDelaySeconds.observe({ pool: 'a' }, 1);
    metrics.showPool('a');
    expect(await startsOf(metrics, 'a')).toMatchObject({ count: 1 });
  });
});

describe('starts and ends of jobs', () => {
  beforeEach(async () => {
    await store.position(test.database);
    await countAll(counting().loop);
  });

  it('are counted once each, by pool, with the wait for the first worker', async () => {
    const { poolId } = await makePool(test.database);
    const { metrics, loop } = counting();
    const { id } = await world.submit({ poolId });
    await test.database.models.job.update({ where: { id }, data: { createdAt: new Date(Date.now() - 600_000) } });
    const first = await world.start({ poolId });
    await world.end(first, endingOf('succeeded'));
    await world.submit({ poolId });
    await world.end(await world.start({ poolId }), endingOf('node_failed'));
    const draft = await world.submit({ poolId });
    await endJob(
      test.database,
      { kind: 'queued', scope: cloudScope(draft.accountId), jobId: draft.id },
      endingOf('canceled_while_queued'),
    );
    await countAll(loop);
    await countAll(loop);
    expect(await endsOf(metrics, poolId)).toEqual({
      ...NO_ENDS,
      'succeeded none': 1,
      'failed caller': 1,
      'canceled none': 1,
    });
    const { count, within300, sum } = await startsOf(metrics, poolId);
    expect({ count, within300 }).toEqual({ count: 2, within300: 1 });
    expect(sum).toBeGreaterThanOrEqual(600);
  });

  it('are counted by one of several processes, and by the next one after a restart', async () => {
    const { poolId } = await makePool(test.database);
    const accountId = await makeAccount(test.database);
    const [first, others] = [counting(new Prompt(3)), [1, 2, 3].map(() => counting(new Prompt(3)))];
    for (let job = 0; job < 10; job += 1) {
      await world.submit({ poolId, accountId });
      await world.end(await world.start({ poolId }));
    }
    await countAll(first.loop, ...others.map(({ loop }) => loop));
    const restarted = counting();
    await world.submit({ poolId, accountId });
    await world.end(await world.start({ poolId }));
    await countAll(restarted.loop);
    const ends = await Promise.all([first, ...others, restarted].map(({ metrics }) => endsOf(metrics, poolId)));
    expect(ends.map((end) => end['succeeded none'] ?? 0).reduce((sum, count) => sum + count)).toBe(11);
    expect(ends.at(-1)?.['succeeded none']).toBe(1);
  });

  it('are counted in bounded steps, and at once again while more is left', async () => {
    const { poolId } = await makePool(test.database);
    const lots = Array.from({ length: 2_000 }, (_, seq) => ({ ...move(poolId), seq }));
    const { metrics, loop } = counting(new Given([lots, [move(poolId)], []]));
    expect(await loop.runOnce()).toBe(2_000);
    expect(await loop.runOnce()).toBe(0);
    expect((await endsOf(metrics, poolId))['succeeded none']).toBe(2_001);
  });

  it('are not counted by a process that another one was faster than', async () => {
    const { poolId } = await makePool(test.database);
    const { metrics, loop } = counting(new Given([[move(poolId)]], false));
    await loop.runOnce();
    expect(await endsOf(metrics, poolId)).toEqual({});
  });

  it('wait until no transaction can commit any more that began before them', async () => {
    const { poolId } = await makePool(test.database);
    await world.submit({ poolId });
    await world.end(await world.start({ poolId }));
    const lags: number[] = [];
    const given = new Given([[], []], true, (lag) => void lags.push(lag));
    await counting(given).loop.runOnce();
    await counting(given, 30_000).loop.runOnce();
    expect(lags).toEqual([60, 120]);
    const position = await store.position(test.database);
    expect(await store.next(test.database, position, 60, 10)).toEqual([]);
    expect(await store.next(test.database, position, 0, 10)).toHaveLength(2);
  });

  it('are counted by a process once its counters can have been read with 0', async () => {
    const { poolId } = await makePool(test.database);
    const metrics = new Metrics('maintenance');
    let nowMs = 5_000;
    const given = new Given([[move(poolId)]]);
    const loop = new CountJobsLoop(test.database, given, metrics, { databaseTimeoutMs: 15_000 }, () => nowMs);
    nowMs += 59_999;
    expect(await loop.runOnce()).toBe(0);
    expect(await endsOf(metrics, poolId)).toEqual({});
    nowMs += 1;
    await loop.runOnce();
    expect((await endsOf(metrics, poolId))['succeeded none']).toBe(1);
  });

  it('are none of a job that was answered with earlier outputs', async () => {
    const { poolId } = await makePool(test.database);
    const { metrics, loop } = counting(new Given([[{ ...move(poolId), reused: true }]]));
    await loop.runOnce();
    expect(await endsOf(metrics, poolId)).toEqual({});
  });

  it('are read from their index past the checkpoint, however many jobs there are', async () => {
    const { poolId } = await makePool(test.database);
    const accountId = await makeAccount(test.database);
    await world.queueMany(poolId, accountId, 5_000);
    await test.database.execute(Prisma.sql`
      INSERT INTO job_transitions (job_id, seq, from_status, to_status, attempt, cause)
      SELECT id, 2, 'queued', 'running', 1, 'claimed' FROM jobs WHERE pool_id = ${poolId} AND account_id = ${accountId}::uuid`);
    await test.database.execute(Prisma.sql`ANALYZE jobs, job_transitions`);
    const position = await store.position(test.database);
    const sql = store.nextSql(position, 0, 10);
    expect(await readingsOf(test.database, sql, 'job_transitions')).toEqual([
      { node: expect.stringMatching(/^Index (Only )?Scan$/) as string, index: 'job_transitions_moves_idx', rows: 10 },
    ]);
    expect(await readingsOf(test.database, sql, 'jobs')).toEqual([
      { node: 'Index Scan', index: 'jobs_pkey', rows: 10 },
    ]);
  });
});

function move(poolId: string): JobMove {
  const position = { at: new Date(), jobId: '00000000-0000-0000-0000-000000000001', seq: 3 };
  return { ...position, status: 'succeeded', poolId, errorCode: null, afterSeconds: 1, reused: false };
}

/** Moves that a test makes up. */
class Given extends JobMoveStore {
  constructor(
    private readonly batches: JobMove[][],
    private readonly isFirst = true,
    private readonly asked: (lagSeconds: number) => void = () => undefined,
  ) {
    super();
  }

  override next(_statements: unknown, _after: MovePosition, lagSeconds: number): Promise<JobMove[]> {
    this.asked(lagSeconds);
    return Promise.resolve(this.batches.shift() ?? []);
  }

  override advance(): Promise<boolean> {
    return Promise.resolve(this.isFirst);
  }
}
