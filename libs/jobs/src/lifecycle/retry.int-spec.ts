import { createHash } from 'node:crypto';
import { Prisma } from '@prisma/client';
import { LedgerStore } from '@millrace/billing';
import { newId, type JobErrorCode, type RetryPolicy } from '@millrace/contracts';
import { Metrics, readSettings } from '@millrace/platform';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { JobAudit } from '../audit';
import { JobWorld, cloudScope, endingOf, type TestDraft } from '../fixtures/job-world';
import { findAttempts } from '../follow/job-attempt.store';
import { describeAttempts } from '../follow/job-attempts';
import { jobSettings } from '../job.settings';
import { OutputStore } from '../outputs/output.store';
import type { ClaimedAttempt, Fence, MovedJob } from '../state/job';
import type { AttemptResult } from './job-ending';
import { Lifecycle } from './lifecycle.service';
import { ResumePausedJobsLoop } from './resume-paused-jobs.loop';
import { requestCancel } from './cancel.store';

const ledger = new LedgerStore();
const POLICY: RetryPolicy = { max: 2, on: ['node_execution_error', 'engine_error', 'worker_lost'], pause_seconds: 60 };

let test: TestDatabase;
let world: JobWorld;
let lifecycle: Lifecycle;
let resuming: ResumePausedJobsLoop;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test, { retry: POLICY });
  const settings = { ...readSettings(jobSettings, {}), holdExtensionSeconds: 60 };
  const events = { moved: () => undefined, lastProgress: () => Promise.resolve(null) };
  lifecycle = new Lifecycle(test.database, events, () => undefined, new Metrics('test'), settings);
  resuming = new ResumePausedJobsLoop(test.database, lifecycle);
});
afterAll(() => test.drop());
afterEach(async () => {
  const findings: unknown[] = [];
  for await (const finding of new JobAudit(test.database).findings()) findings.push(finding);
  expect(findings).toEqual([]);
});

/** An attempt of a job that has used its engine for so long. */
async function run(job: TestDraft): Promise<ClaimedAttempt> {
  const claimed = await world.start(job);
  await world.claimedSecondsAgo(job.id, 60);
  return claimed;
}

function failed(code: JobErrorCode, engineMs = 1_000, ending: AttemptResult['ending'] = 'node_failed'): AttemptResult {
  return endingOf(ending, { engineMs, failure: { code, message: 'a test' } }) as AttemptResult;
}

const fail = (fence: Fence, engineMs?: number): Promise<MovedJob | null> =>
  lifecycle.finish(fence, failed('node_execution_error', engineMs));

const rowOf = (id: string): Promise<{ status: string; delivery: string; retries: number; retryAt: Date | null }> =>
  test.database.models.job.findUniqueOrThrow({
    where: { id },
    select: { status: true, delivery: true, retries: true, retryAt: true },
  });

async function endPause(id: string): Promise<void> {
  await test.database.execute(Prisma.sql`UPDATE jobs SET retry_at = now() - interval '1 s' WHERE id = ${id}::uuid`);
}

/** The pause of a job is over, and it is claimed again. */
async function runAgain(job: TestDraft): Promise<ClaimedAttempt> {
  await endPause(job.id);
  expect(await resuming.runOnce()).toBe(1);
  return run(job);
}

async function attemptsOf({ id, accountId }: TestDraft): Promise<ReturnType<typeof describeAttempts>> {
  const row = await findAttempts(test.database, cloudScope(accountId), id);
  if (row === null) throw new Error('there is no such job');
  return describeAttempts(row);
}

describe('a job with a retry policy', () => {
  it('has a small error of each attempt that was tried again, however much its worker reports', async () => {
    const job = await world.submit();
    const failure = { code: 'node_execution_error', message: 'm'.repeat(7_000_000) } as const;
    const fence = await run(job);
    await lifecycle.finish(fence, endingOf('node_failed', { engineMs: 0, failure }) as AttemptResult);
    const { error } = await test.database.models.jobAttempt.findFirstOrThrow({ where: { jobId: job.id } });
    expect(JSON.stringify(error).length).toBeLessThan(32 * 1024);
  });

  it('pauses when it fails, keeps its place, and is not given out before the pause is over', async () => {
    const job = await world.submit();
    expect(await fail(await run(job))).toMatchObject({ from: 'running', status: 'running' });
    const row = await rowOf(job.id);
    expect(row).toMatchObject({ status: 'running', delivery: 'paused', retries: 1 });
    expect(await world.queueOf(job)).toEqual({ waiting: 0, inFlight: 1 });
    expect(await world.dispatch(job.poolId)).toBeNull();
    expect(await resuming.runOnce()).toBe(0);
    const [{ ms }] = (await test.database.query<{ ms: number }>(
      Prisma.sql`SELECT (extract(epoch FROM retry_at - updated_at))::float8 AS ms FROM jobs WHERE id = ${job.id}::uuid`,
    )) as [{ ms: number }];
    expect(ms).toBeCloseTo(POLICY.pause_seconds, 1);
    const second = await runAgain(job);
    expect(second.attempt).toBe(2);
    expect(await world.queueOf(job)).toEqual({ waiting: 0, inFlight: 1 });
    await lifecycle.finish(second, endingOf('succeeded') as AttemptResult);
    expect(await world.history(job.id)).toEqual(['queued', 'running', 'succeeded']);
  });

  it('is charged for each attempt by the table, and no more often than the policy says', async () => {
    const job = await world.submit();
    await fail(await run(job), 1_000);
    await fail(await runAgain(job), 2_000);
    const moved = await fail(await runAgain(job), 4_000);
    expect(moved).toMatchObject({ status: 'failed', attempt: 3, chargedMicros: 7_000n });
    expect(await ledger.balance(test.database, job.accountId)).toEqual({ availableMicros: 993_000n, heldMicros: 0n });
    expect(await attemptsOf(job)).toMatchObject(
      [1_000, 2_000, 4_000].map((engineMs) => ({
        engineMs,
        charge: 'charged',
        outcome: 'failed',
        error: { code: 'node_execution_error' },
      })),
    );
  });

  it('that succeeds is charged for the failed attempts as well, and shows its own outputs alone', async () => {
    const job = await world.submit();
    const first = await run(job);
    await output(first);
    await fail(first, 1_000);
    expect(await attemptsOf(job)).toMatchObject([
      { charge: 'charged', message: 'The attempt failed. It is tried again by the retry policy.' },
    ]);
    const second = await runAgain(job);
    const moved = await lifecycle.finish(second, endingOf('succeeded', { engineMs: 500 }) as AttemptResult);
    expect(moved?.chargedMicros).toBe(1_500n);
    expect(await test.database.models.jobOutput.count({ where: { jobId: job.id } })).toBe(0);
  });

  it('is not charged for an attempt whose fault is ours, and gets nothing of it', async () => {
    const job = await world.submit({ retry: { ...POLICY, on: ['output_storage_error'] } });
    const first = await run(job);
    await output(first);
    await lifecycle.finish(first, failed('output_storage_error', 1_000, 'output_not_stored'));
    expect(await test.database.models.jobOutput.count({ where: { jobId: job.id } })).toBe(0);
    expect(await attemptsOf(job)).toMatchObject([{ charge: 'not_charged', error: { code: 'output_storage_error' } }]);
    const second = await runAgain(job);
    expect(
      (await lifecycle.finish(second, endingOf('succeeded', { engineMs: 500 }) as AttemptResult))?.chargedMicros,
    ).toBe(500n);
  });

  it('keeps outputs that were paid for when a later attempt costs nothing', async () => {
    const job = await world.submit({ retry: { ...POLICY, max: 1 } });
    const first = await run(job);
    await output(first);
    await fail(first, 1_000);
    const moved = await lifecycle.finish(await runAgain(job), failed('output_storage_error', 900, 'output_not_stored'));
    expect(moved).toMatchObject({ status: 'failed', chargedMicros: 1_000n });
    expect(await test.database.models.jobOutput.count({ where: { jobId: job.id } })).toBe(1);
    expect(await attemptsOf(job)).toMatchObject([{ charge: 'charged' }, { charge: 'not_charged' }]);
  });

  it('that was charged for a retry does not say of itself that it was not, where its last worker is lost', async () => {
    const job = await world.submit({ retry: { ...POLICY, max: 1, on: ['node_execution_error'] } });
    await fail(await run(job), 1_000);
    await endPause(job.id);
    await resuming.runOnce();
    for (const last of [false, false, true]) {
      await world.start(job, -1);
      await lifecycle.rescue({ id: job.id, status: 'running', last });
    }
    const { chargedMicros, error } = await test.database.models.job.findUniqueOrThrow({ where: { id: job.id } });
    expect(chargedMicros).toBe(1_000n);
    expect(error).toEqual({
      code: 'worker_lost',
      message:
        'The worker was lost while it ran this job, and no attempt is left. This attempt was not charged. Submit the job again.',
    });
  });

  it.each([
    ['the same again', 'same', 'same', 1],
    ['another in its place', 'one', 'another', 0],
  ])('keeps what was paid for when a later attempt that costs nothing made %s', async (_what, first, second, shown) => {
    const job = await world.submit({ retry: { ...POLICY, max: 1 } });
    const paid = await run(job);
    const assetId = await output(paid, 1, first);
    await fail(paid, 1_000);
    const free = await runAgain(job);
    await output(free, 1, second);
    await lifecycle.finish(free, failed('output_storage_error', 900, 'output_not_stored'));
    expect(await test.database.models.jobOutput.count({ where: { jobId: job.id } })).toBe(shown);
    expect(await keptAssets(job)).toEqual([assetId]);
  });

  it('is billed for engine time that was lost when the policy takes over, and once', async () => {
    const job = await world.submit();
    for (const engineMs of [3_000, 1_000, 2_000]) {
      const claimed = await run(job);
      await lifecycle.giveUp(claimed, { by: 'engine', reason: 'it ended', engineMs });
    }
    expect(await rowOf(job.id)).toMatchObject({ delivery: 'paused', retries: 1 });
    const moved = await lifecycle.finish(await runAgain(job), failed('node_execution_error', 500, 'engine_failed'));
    expect(moved).toMatchObject({ status: 'failed', attempt: 4, chargedMicros: 3_500n });
    const [charged, not] = [{ charge: 'charged' }, { charge: 'not_charged' }];
    expect(await attemptsOf(job)).toMatchObject([charged, not, not, charged]);
  });

  it.each<[string, (job: TestDraft) => Promise<MovedJob | null>]>([
    [
      'is canceled in the pause',
      async (job) => {
        await lifecycle.cancel(cloudScope(job.accountId), job.id);
        return null;
      },
    ],
    ['fails next', async (job) => lifecycle.finish(await runAgain(job), failed('engine_error', 500, 'engine_failed'))],
  ])('keeps what a lost engine made, which is billed where it %s', async (_what, end) => {
    const job = await world.submit({ retry: { ...POLICY, max: 1, on: ['output_storage_error'] } });
    const first = await run(job);
    const lost = await output(first);
    await lifecycle.giveUp(first, { by: 'engine', reason: 'it ended', engineMs: 9_000 });
    const second = await run(job);
    await output(second, 2);
    await lifecycle.finish(second, failed('output_storage_error', 900, 'output_not_stored'));
    expect(await keptAssets(job)).toEqual([lost]);
    await end(job);
    expect(await test.database.models.job.findUniqueOrThrow({ where: { id: job.id } })).toMatchObject({
      delivery: 'done',
      chargedMicros: 9_000n,
    });
    const outputs = await test.database.models.jobOutput.findMany({ where: { jobId: job.id } });
    expect(outputs).toMatchObject([{ attempt: 1, assetId: lost }]);
    expect((await attemptsOf(job))[0]).toMatchObject({ charge: 'charged' });
    expect(await keptAssets(job)).toEqual([lost]);
  });

  it('shows which attempts its charges are for, and keeps what was lost and paid for', async () => {
    const sequence = async (): Promise<TestDraft> => {
      const job = await world.submit();
      const first = await run(job);
      await output(first);
      await lifecycle.giveUp(first, { by: 'engine', reason: 'it ended', engineMs: 9_000 });
      await fail(await run(job), 2_000);
      return job;
    };
    const [charged, not] = [{ charge: 'charged' }, { charge: 'not_charged' }];
    const failing = await sequence();
    expect(await attemptsOf(failing)).toMatchObject([charged, not]);
    const moved = await lifecycle.finish(await runAgain(failing), failed('engine_error', 1_000, 'engine_failed'));
    expect(moved?.chargedMicros).toBe(10_000n);
    expect(await attemptsOf(failing)).toMatchObject([charged, not, charged]);
    const waived = await sequence();
    const third = await runAgain(waived);
    await output(third, 2);
    const ended = await lifecycle.finish(third, failed('output_storage_error', 900, 'output_not_stored'));
    expect(ended?.chargedMicros).toBe(9_000n);
    expect(await attemptsOf(waived)).toMatchObject([charged, not, not]);
    const outputs = await test.database.models.jobOutput.findMany({ where: { jobId: waived.id } });
    expect(outputs.map(({ attempt }) => attempt)).toEqual([1]);
  });

  it('whose workers are all lost is given to others as often as the policy says', async () => {
    const job = await world.submit();
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      if (attempt > 3) {
        await endPause(job.id);
        await resuming.runOnce();
      }
      expect((await world.start(job, -1)).attempt).toBe(attempt);
      await lifecycle.rescue({ id: job.id, status: 'running', last: attempt >= 3 });
    }
    expect(await rowOf(job.id)).toMatchObject({ status: 'failed', retries: 2 });
  });

  it('has its hold extended by all that is billed so far', async () => {
    const job = await world.submit({ holdMicros: 5_000n });
    await fail(await run(job), 4_000);
    await endPause(job.id);
    await resuming.runOnce();
    const second = await world.start(job);
    expect(second.isHoldShort).toBe(true);
    expect(await world.beat(second)).toMatchObject({ exhausted: false });
    await world.claimedSecondsAgo(job.id, 60);
    expect((await fail(second, 6_000))?.status).toBe('running');
    const { heldMicros } = await test.database.models.job.findUniqueOrThrow({ where: { id: job.id } });
    expect(heldMicros).toBeGreaterThan(10_000n);
    await lifecycle.cancel(cloudScope(job.accountId), job.id);
    expect(await ledger.balance(test.database, job.accountId)).toEqual({ availableMicros: 990_000n, heldMicros: 0n });
  });

  it.each([
    ['of a code that it does not name', failed('output_storage_error', 1_000, 'output_not_stored')],
    ['of a graph that the engine refused', failed('engine_error', 1_000, 'engine_failed')],
    ['of an output that nothing can store', failed('node_execution_error', 1_000, 'output_refused')],
    ['of time', failed('execution_timeout', 1_000, 'overtime')],
    ['of credits', failed('credits_exhausted', 1_000, 'credits_exhausted')],
  ])('ends with a failure %s', async (_what, result) => {
    const job = await world.submit();
    expect(await lifecycle.finish(await run(job), result)).toMatchObject({ status: 'failed' });
    expect((await rowOf(job.id)).retries).toBe(0);
  });

  it('fails where its deadline is before the end of the pause', async () => {
    const job = await world.submit();
    const claimed = await run(job);
    await test.database.execute(
      Prisma.sql`UPDATE jobs SET deadline_at = now() + interval '59 s' WHERE id = ${job.id}::uuid`,
    );
    expect(await fail(claimed)).toMatchObject({ status: 'failed' });
  });

  it('ends at once when it is canceled while it pauses, charged for what it used', async () => {
    const job = await world.submit();
    await fail(await run(job), 1_000);
    await lifecycle.cancel(cloudScope(job.accountId), job.id);
    expect(await rowOf(job.id)).toMatchObject({ status: 'canceled', delivery: 'done', retryAt: null });
    expect(await ledger.balance(test.database, job.accountId)).toEqual({ availableMicros: 999_000n, heldMicros: 0n });
    expect(await world.queueOf(job)).toEqual({ waiting: 0, inFlight: 0 });
    expect(await attemptsOf(job)).toMatchObject([
      {
        charge: 'charged',
        error: { code: 'node_execution_error' },
        message: 'The attempt failed. No further attempt was made.',
      },
    ]);
  });

  it('ends soon where who cancels it dies between the request and the end', async () => {
    const job = await world.submit();
    await fail(await run(job));
    await requestCancel(test.database, cloudScope(job.accountId), job.id);
    expect(await resuming.runOnce()).toBe(1);
    expect(await rowOf(job.id)).toMatchObject({ status: 'canceling', delivery: 'waiting' });
    expect(await lifecycle.endCanceled(job.id)).toMatchObject({ status: 'canceled' });
    expect(await world.queueOf(job)).toEqual({ waiting: 0, inFlight: 0 });
  });

  it('expires where its deadline passes while it pauses', async () => {
    const job = await world.submit();
    await fail(await run(job), 1_000);
    await world.passDeadline(job.id);
    expect(await lifecycle.expire(job.id)).toMatchObject({ status: 'expired', chargedMicros: 1_000n });
    expect(await world.queueOf(job)).toEqual({ waiting: 0, inFlight: 0 });
  });

  it('that is to be canceled is not tried again', async () => {
    const job = await world.submit();
    const claimed = await run(job);
    await lifecycle.cancel(cloudScope(job.accountId), job.id);
    expect(await fail(claimed)).toMatchObject({ status: 'canceled' });
  });

  it('is tried again once, however many report the same failure', async () => {
    const job = await world.submit();
    const claimed = await run(job);
    const moved = await Promise.all(Array.from({ length: 4 }, () => fail(claimed)));
    expect(moved.filter((one) => one !== null)).toHaveLength(1);
    expect(await rowOf(job.id)).toMatchObject({ delivery: 'paused', retries: 1 });
  });

  it('is not given out twice where two processes end its pause', async () => {
    const job = await world.submit();
    await fail(await run(job));
    await endPause(job.id);
    const counts = await Promise.all([1, 2].map(() => lifecycle.resumePaused([job.id])));
    expect(counts.sort()).toEqual([0, 1]);
    expect(await world.queueOf(job)).toEqual({ waiting: 1, inFlight: 0 });
  });
});

/** The attempt records an output. @returns the asset that it would be, unless it is one that is there. */
async function output(claimed: ClaimedAttempt, node = 1, text = newId()): Promise<string> {
  const { accountId } = claimed;
  const hash = `blake3:${createHash('sha256').update(text).digest('hex')}`;
  const { createdAt: bornAt } = await test.database.models.blob.upsert({
    where: { accountId_hash: { accountId, hash } },
    create: { accountId, hash, sizeBytes: 1n },
    update: {},
  });
  const asset = { id: newId(), blob: { accountId, hash, bornAt }, contentType: 'text/plain', name: `${node}.txt` };
  const outputs = new OutputStore({ maxOutputsPerJob: 10 });
  await outputs.record(test.database, claimed, {
    nodeId: String(node),
    nodeIndex: node,
    ordinal: 0,
    type: 'text',
    asset,
  });
  return asset.id;
}

/** What of all that a job made has not expired. */
async function keptAssets({ id: jobId }: TestDraft): Promise<string[]> {
  const where = { jobId, expiresAt: { gt: new Date() } };
  return (await test.database.models.asset.findMany({ where })).map(({ id }) => id);
}
