import { randomUUID } from 'node:crypto';
import { Prisma } from '@prisma/client';
import { LedgerStore } from '@millrace/billing';
import { newId, type Progress } from '@millrace/contracts';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { JobWorld, cloudScope, endingOf } from '../fixtures/job-world';
import { findAttempts } from '../follow/job-attempt.store';
import { JobStore } from '../follow/job.store';
import { jobSettings, type JobSettings } from '../job.settings';
import { JobHistoryStore } from '../operator/job-history.store';
import { OutputStore, type OutputRow } from '../outputs/output.store';
import type { Fence, JobScope } from '../state';
import { TRANSITIONS } from '../state/job-state';
import { requestCancel } from './cancel.store';
import { EndOvertimeJobsLoop } from './end-overtime-jobs.loop';
import { endJob } from './end.store';
import { giveUpAttempt, giveUpForRoom, handBackAttempt, takeBackAttempt } from './release.store';
import { Metrics, readSettings } from '@millrace/platform';
import { Lifecycle } from './lifecycle.service';

const settings: JobSettings = readSettings(jobSettings, {});
const ledger = new LedgerStore();

let test: TestDatabase;
let world: JobWorld;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
});
afterAll(() => test.drop());

/** An output whose bytes are said to be stored. */
async function madeBy(accountId: string): Promise<OutputRow> {
  const hash = `blake3:${'0'.repeat(64)}`;
  const { createdAt: bornAt } = await test.database.models.blob.create({ data: { accountId, hash, sizeBytes: 1n } });
  const asset = { id: newId(), blob: { accountId, hash, bornAt }, contentType: 'text/plain', name: 'a.txt' };
  return { nodeId: '1', nodeIndex: 0, ordinal: 0, type: 'text', asset };
}

describe('an attempt', () => {
  it('is claimed once, however many workers see its message', async () => {
    const job = await world.submit();
    const dispatched = await world.dispatch(job.poolId);
    const claims = await Promise.all(
      Array.from({ length: 8 }, () => world.claim({ jobId: job.id, attempt: dispatched?.attempt ?? 0 })),
    );
    expect(claims.filter((claim) => claim !== null)).toHaveLength(1);
    expect(await world.history(job.id)).toEqual(['queued', 'running']);
    expect(await world.queueOf(job)).toEqual({ waiting: 0, inFlight: 1 });
  });

  it('ends with a charge for the time used, the rest of the hold given back, and counters at zero', async () => {
    const job = await world.submit();
    const claimed = await world.start(job);
    await world.claimedSecondsAgo(job.id, 10);
    const moved = await world.end(claimed, endingOf('succeeded', { engineMs: 2_500 }));
    expect(moved).toMatchObject({ from: 'running', status: 'succeeded', chargedMicros: 2_500n });
    expect(await ledger.balance(test.database, job.accountId)).toEqual({ availableMicros: 997_500n, heldMicros: 0n });
    expect(await world.queueOf(job)).toEqual({ waiting: 0, inFlight: 0 });
    const usage = await test.database.models.usageRecord.findUniqueOrThrow({ where: { jobId: job.id } });
    expect(usage).toMatchObject({ billableMs: 2_500n, chargedMicros: 2_500n, status: 'succeeded' });
  });

  it('is never charged for more time than has passed, nor for more than was held', async () => {
    const quick = await world.submit();
    const beganMs = performance.now();
    const claimed = await world.start(quick);
    const moved = await world.end(claimed, endingOf('succeeded', { engineMs: 3_600_000 }));
    // A millisecond costs one micro-credit, and one that has begun costs all of it.
    expect(Number(moved?.chargedMicros)).toBeLessThanOrEqual(Math.ceil(performance.now() - beganMs) + 1);
    const long = await world.submit({ holdMicros: 10n });
    const other = await world.start(long);
    await world.claimedSecondsAgo(long.id, 3_600);
    const capped = await world.end(other, endingOf('succeeded', { engineMs: 3_600_000 }));
    expect(capped?.chargedMicros).toBe(10n);
  });

  it.each([
    ['nothing', 0n, true],
    ['less than the price of the time until the first heartbeat', 3_333n, true],
    ['the price of that time', 3_334n, false],
  ])('is charged in full, where %s is held at its submission', async (_, holdMicros, isHoldShort) => {
    const job = await world.submit({ holdMicros });
    const claimed = await world.start(job);
    expect(claimed.isHoldShort).toBe(isHoldShort);
    // What a worker does before the run of such a job.
    if (isHoldShort) expect(await world.beat(claimed)).toMatchObject({ exhausted: false });
    await world.claimedSecondsAgo(job.id, 10);
    expect(await world.end(claimed, endingOf('succeeded', { engineMs: 3_334 }))).toMatchObject({
      chargedMicros: 3_334n,
    });
    expect(await ledger.balance(test.database, job.accountId)).toEqual({ availableMicros: 996_666n, heldMicros: 0n });
  });

  it('of a worker that lost its lease changes nothing', async () => {
    const job = await world.submit();
    const zombie = await world.start(job, -1);
    const taken = await takeBackAttempt(test.database, job.id);
    expect(taken).toMatchObject({ status: 'running', attempt: 1 });
    const second = await world.start(job);
    expect(second.attempt).toBe(2);
    expect(await world.beat(zombie)).toBeNull();
    expect(await world.end(zombie)).toBeNull();
    expect(await handBackAttempt(test.database, zombie)).toBeNull();
    expect(await world.beat(second)).toEqual({ status: 'running', exhausted: false, overtime: false });
    expect(await world.history(job.id)).toEqual(['queued', 'running']);
  });

  it('handed back does not count against the attempts, and is not charged', async () => {
    const job = await world.submit();
    const first = await world.start(job);
    await handBackAttempt(test.database, first);
    const row = await test.database.models.job.findUniqueOrThrow({ where: { id: job.id } });
    expect(row).toMatchObject({ status: 'running', delivery: 'waiting', maxAttempts: settings.maxAttempts + 1 });
    expect(await world.queueOf(job)).toEqual({ waiting: 1, inFlight: 0 });
    const second = await world.start(job);
    const moved = await world.end(second, endingOf('succeeded', { engineMs: 0 }));
    expect(moved?.chargedMicros).toBe(0n);
    expect(await ledger.balance(test.database, job.accountId)).toEqual({ availableMicros: 1_000_000n, heldMicros: 0n });
  });
});

describe('the error of a job', () => {
  const endless = {
    code: 'node_execution_error',
    message: 'm'.repeat(7_000_000),
    node_id: '1',
    class_type: 'c'.repeat(7_000_000),
    traceback: 't'.repeat(7_000_000),
  } as const;

  it('is small, however much its worker reports', async () => {
    const job = await world.submit();
    const claimed = await world.start(job);
    await world.end(claimed, endingOf('node_failed', { engineMs: 0, failure: endless }));
    const { error } = await test.database.models.job.findUniqueOrThrow({ where: { id: job.id } });
    expect(JSON.stringify(error).length).toBeLessThan(32 * 1024);
    expect(error).toMatchObject({ code: 'node_execution_error', node_id: '1' });
  });

  it('is small where an attempt was given back for want of room', async () => {
    const job = await world.submit();
    const claimed = await world.start(job);
    const lack = { message: endless.message, neededBytes: 1, nodeId: '1', isPassing: true };
    expect(await giveUpForRoom(test.database, claimed, lack)).toMatchObject({ status: 'running' });
    const { error } = await test.database.models.jobAttempt.findFirstOrThrow({ where: { jobId: job.id } });
    expect(JSON.stringify(error).length).toBeLessThan(32 * 1024);
  });

  it('is shown cut where an earlier version recorded a larger one', async () => {
    const job = await world.submit();
    await world.end(
      await world.start(job),
      endingOf('node_failed', { engineMs: 0, failure: { code: 'engine_error', message: '' } }),
    );
    await test.database.transaction(async (tx) => {
      await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
      await tx.execute(
        Prisma.sql`UPDATE jobs SET error = ${JSON.stringify(endless)}::jsonb WHERE id = ${job.id}::uuid`,
      );
    });
    const [shown] = await new JobStore().findAsked(test.database, [
      { scope: cloudScope(job.accountId), id: job.id, withLogs: false },
    ]);
    expect(JSON.stringify(shown?.error).length).toBeLessThan(32 * 1024);
    const attempts = await findAttempts(test.database, cloudScope(job.accountId), job.id);
    expect(JSON.stringify(attempts?.error).length).toBeLessThan(32 * 1024);
    const history = await new JobHistoryStore().find(test.database, job.id);
    expect(JSON.stringify(history?.error).length).toBeLessThan(32 * 1024);
  });
});

describe('canceling', () => {
  it('ends a queued job at once and charges nothing', async () => {
    const job = await world.submit();
    const guard = { kind: 'queued', scope: job, jobId: job.id } as const;
    const moved = await endJob(test.database, guard, endingOf('canceled_while_queued'));
    expect(moved).toMatchObject({ from: 'queued', status: 'canceled', chargedMicros: 0n });
    expect(await world.queueOf(job)).toEqual({ waiting: 0, inFlight: 0 });
  });

  it('of a running job ends it canceled, no matter what its worker reports', async () => {
    const job = await world.submit();
    const claimed = await world.start(job);
    expect(await requestCancel(test.database, job, job.id)).toMatchObject({ status: 'canceling' });
    expect(await requestCancel(test.database, job, job.id)).toBeNull();
    const moved = await world.end(claimed);
    expect(moved).toMatchObject({ from: 'canceling', status: 'canceled' });
    expect(await world.history(job.id)).toEqual(['queued', 'running', 'canceling', 'canceled']);
  });
});

describe('a fence', () => {
  it('is job, attempt and token: with any of them wrong, nothing changes and no output is recorded', async () => {
    const job = await world.submit();
    const other = await world.submit();
    const fence = await world.start(job);
    const wrong = [
      { ...fence, attempt: fence.attempt + 1 },
      { ...fence, leaseToken: randomUUID() },
      { ...fence, jobId: other.id },
    ];
    const outputs = new OutputStore(settings);
    const output = await madeBy(job.accountId);
    for (const one of wrong) {
      expect(await world.beat(one)).toBeNull();
      expect(await handBackAttempt(test.database, one)).toBeNull();
      expect(await world.end(one)).toBeNull();
      expect(await outputs.record(test.database, one, output)).toBe('lease_lost');
    }
    expect(await outputs.record(test.database, fence, output)).toBe('recorded');
    expect(await world.beat(fence)).toEqual({ status: 'running', exhausted: false, overtime: false });
  });

  it('holds while its lease does: nobody takes a live attempt back', async () => {
    const job = await world.submit();
    const fence = await world.start(job);
    expect(await takeBackAttempt(test.database, job.id)).toBeNull();
    expect(
      await endJob(test.database, { kind: 'lost_for_good', jobId: job.id }, endingOf('attempts_used_up')),
    ).toBeNull();
    expect(await world.beat(fence)).toEqual({ status: 'running', exhausted: false, overtime: false });
  });
});

describe('a claim', () => {
  it('takes the attempt that was dispatched and no other, and none past the deadline', async () => {
    const job = await world.submit();
    expect(await world.claim({ jobId: job.id, attempt: 1 })).toBeNull();
    const next = await world.dispatch(job.poolId);
    const message = { jobId: job.id, attempt: next?.attempt ?? 0 };
    expect(await world.claim({ ...message, attempt: message.attempt + 1 })).toBeNull();
    await world.passDeadline(job.id);
    expect(await world.claim(message)).toBeNull();
  });
});

describe('an end', () => {
  it('that is only for what has not started, or was asked to stop, leaves a running job alone', async () => {
    const job = await world.submit();
    const fence = await world.start(job);
    const canceled = endingOf('canceled_while_running');
    expect(await endJob(test.database, { kind: 'queued', scope: job, jobId: job.id }, canceled)).toBeNull();
    expect(await endJob(test.database, { kind: 'canceling_fence', fence }, canceled)).toBeNull();
    expect(await world.beat(fence)).toEqual({ status: 'running', exhausted: false, overtime: false });
  });

  it('by the clock comes neither before the deadline, nor while there is another attempt, nor under a worker', async () => {
    const job = await world.submit();
    await world.start(job, 0);
    const over = endingOf('attempts_used_up');
    const jobId = job.id;
    expect(await endJob(test.database, { kind: 'overdue', jobId }, over)).toBeNull();
    expect(await endJob(test.database, { kind: 'lost_for_good', jobId }, over)).toBeNull();
    await requestCancel(test.database, job, jobId);
    expect(await endJob(test.database, { kind: 'canceling_unleased', jobId }, over)).toBeNull();
  });
});

describe('an attempt between two workers', () => {
  it('is not claimed once its job is to be canceled', async () => {
    const job = await world.submit();
    await handBackAttempt(test.database, await world.start(job));
    const next = await world.dispatch(job.poolId);
    await requestCancel(test.database, job, job.id);
    expect(await world.claim({ jobId: job.id, attempt: next?.attempt ?? 0 })).toBeNull();
  });

  it('is not given another when it was the last', async () => {
    const job = await world.submit();
    await test.database.execute(Prisma.sql`UPDATE jobs SET max_attempts = 1 WHERE id = ${job.id}::uuid`);
    expect(await giveUpAttempt(test.database, await world.start(job), 0)).toBeNull();
  });
});

describe('a terminal job', () => {
  it('is left by nothing, not even a statement that forgot its guard', async () => {
    const job = await world.submit();
    const claimed = await world.start(job);
    await world.end(claimed);
    const update = test.database.execute(Prisma.sql`UPDATE jobs SET priority = 1 WHERE id = ${job.id}::uuid`);
    await expect(update).rejects.toThrow('nothing leaves a terminal state');
  });
});

describe('the database', () => {
  it('refuses what no statement should ask', async () => {
    const job = await world.submit();
    await world.start(job);
    const { accountId, id } = job;
    const asked = {
      'an attempt that goes back': Prisma.sql`UPDATE jobs SET attempt = 0 WHERE id = ${id}::uuid`,
      'a status without its number': Prisma.sql`UPDATE jobs SET status = 'canceling' WHERE id = ${id}::uuid`,
      'another history': Prisma.sql`UPDATE job_transitions SET cause = 'none' WHERE job_id = ${id}::uuid`,
      'another graph': Prisma.sql`UPDATE job_graphs SET workflow = '{}' WHERE job_id = ${id}::uuid`,
      'a balance below nothing': Prisma.sql`
        UPDATE balances SET available_micros = -1 WHERE account_id = ${accountId}::uuid`,
      'a counter below nothing': Prisma.sql`
        UPDATE account_queues SET waiting = -1 WHERE account_id = ${accountId}::uuid`,
      'a second hold': Prisma.sql`
        INSERT INTO ledger_transactions (id, account_id, kind, job_id, cause, actor)
        SELECT gen_random_uuid(), account_id, kind, job_id, cause, actor FROM ledger_transactions
        WHERE job_id = ${id}::uuid`,
      'an attempt twice': Prisma.sql`
        INSERT INTO job_attempts (job_id, attempt, worker_id) SELECT job_id, attempt, worker_id FROM job_attempts
        WHERE job_id = ${id}::uuid`,
    };
    for (const [what, statement] of Object.entries(asked)) {
      const outcome = await test.database.execute(statement).then(
        () => `did not refuse ${what}`,
        () => 'refused',
      );
      expect(outcome).toBe('refused');
    }
  });

  it('allows exactly the transitions of the table', async () => {
    const statuses = [null, 'queued', 'running', 'succeeded', 'canceling', 'canceled', 'failed', 'expired'];
    const job = await world.submit();
    const allowed: string[] = [];
    for (const from of statuses) {
      for (const to of statuses.slice(1)) {
        const insert = Prisma.sql`
          INSERT INTO job_transitions (job_id, seq, from_status, to_status, attempt, cause)
          VALUES (${job.id}::uuid, ${from === null ? 1 : 2}, ${from}, ${to}, 0, 'probe')`;
        const probe = test.database.transaction(async (tx) => {
          await tx.execute(Prisma.sql`DELETE FROM job_transitions WHERE job_id = ${job.id}::uuid`);
          await tx.execute(insert);
          throw new Error('allowed');
        });
        await probe.catch((error: Error) => error.message === 'allowed' && allowed.push(`${from} ${to}`));
      }
    }
    expect(allowed.sort()).toEqual(TRANSITIONS.map(({ from, to }) => `${from} ${to}`).sort());
  });
});

describe('the end of a job that no worker reports', () => {
  const progressOf = (value: number): Progress => ({ value, nodes_done: 0, nodes_total: 1 });
  const lifecycleOf = (published: Progress | null): Lifecycle =>
    new Lifecycle(
      test.database,
      { moved: () => undefined, lastProgress: () => Promise.resolve(published) },
      () => undefined,
      new Metrics('test'),
      { ...settings, attemptLimitSeconds: 0, holdExtensionSeconds: 60 },
    );
  const ends: Record<string, (lifecycle: Lifecycle, run: Fence, scope: JobScope) => Promise<unknown>> = {
    'attempts used up': (lifecycle, { jobId: id }) => lifecycle.rescue({ id, status: 'running', last: true }),
    'worker lost while canceling': async (lifecycle, { jobId: id }, scope) => {
      await lifecycle.cancel(scope, id);
      return lifecycle.rescue({ id, status: 'canceling', last: true });
    },
    'canceled between attempts': async (lifecycle, run, scope) => {
      await handBackAttempt(test.database, run);
      return lifecycle.cancel(scope, run.jobId);
    },
    'deadline passed': async (lifecycle, run) => {
      await handBackAttempt(test.database, run);
      await world.passDeadline(run.jobId);
      return lifecycle.expire(run.jobId);
    },
    'given up by its worker': (lifecycle, run) => lifecycle.giveUp(run, { by: 'worker', reason: 'it failed' }),
  };

  it.each(
    Object.keys(ends).flatMap((end) => [
      [end, 'that streams have shown', 0.8, 0.8],
      [end, 'of the last heartbeat, where less was published', 0.3, 0.5],
      [end, 'of the last heartbeat, where nothing published is kept', null, 0.5],
    ]),
  )('keeps the progress: %s, %s', async (end, _, published, shown) => {
    const job = await world.submit();
    await test.database.execute(Prisma.sql`UPDATE jobs SET max_attempts = 1 WHERE id = ${job.id}::uuid`);
    const run = await world.start(job);
    const lifecycle = lifecycleOf(published === null ? null : progressOf(Number(published)));
    await lifecycle.heartbeat(run, { progress: progressOf(0.5), engineMs: 0 });
    if (String(end).startsWith('attempts') || String(end).startsWith('worker')) await world.passLease(job.id);
    const scope = cloudScope(job.accountId);
    await ends[String(end)]?.(lifecycle, run, scope);
    const [read] = await new JobStore().findAsked(test.database, [{ scope, id: job.id, withLogs: false }]);
    expect(read).toMatchObject({ delivery: 'done', progress: { value: shown } });
  });
});

describe('an attempt that takes longer than it may', () => {
  const lifecycleOf = (attemptLimitSeconds: number): Lifecycle =>
    new Lifecycle(
      test.database,
      { moved: () => undefined, lastProgress: () => Promise.resolve(null) },
      () => undefined,
      new Metrics('test'),
      { ...settings, attemptLimitSeconds, holdExtensionSeconds: 60 },
    );
  const run = { progress: null, engineMs: 7_000 };

  it('is to be stopped by its worker, and has cost what it used', async () => {
    const claimed = await world.start(await world.submit());
    await world.claimedSecondsAgo(claimed.jobId, 100);
    expect(await lifecycleOf(200).heartbeat(claimed, run)).toEqual({
      status: 'running',
      exhausted: false,
      overtime: false,
    });
    expect(await lifecycleOf(99).heartbeat(claimed, run)).toEqual({
      status: 'running',
      exhausted: false,
      overtime: true,
    });
    const moved = await world.end(claimed, endingOf('overtime', { engineMs: 9_000 }));
    expect(moved).toMatchObject({ status: 'failed', chargedMicros: 9_000n });
  });

  it('goes by the limit of its pool, where that has one', async () => {
    const job = await world.submit();
    await test.database.execute(Prisma.sql`UPDATE pools SET attempt_limit_seconds = 50 WHERE id = ${job.poolId}`);
    const claimed = await world.start(job);
    await world.claimedSecondsAgo(claimed.jobId, 60);
    expect(await lifecycleOf(1_000).heartbeat(claimed, run)).toMatchObject({ overtime: true });
  });

  it('ends without its worker a while later, charged and not tried again', async () => {
    const claimed = await world.start(await world.submit());
    const lifecycle = lifecycleOf(100);
    await world.claimedSecondsAgo(claimed.jobId, 130);
    await lifecycle.heartbeat(claimed, run);
    const loop = new EndOvertimeJobsLoop(test.database, lifecycle, 100);
    await loop.runOnce();
    expect(await world.history(claimed.jobId)).toEqual(['queued', 'running']);
    await world.claimedSecondsAgo(claimed.jobId, 300);
    expect(await loop.runOnce()).toBe(1);
    const job = await test.database.models.job.findUniqueOrThrow({ where: { id: claimed.jobId } });
    expect(job).toMatchObject({ status: 'failed', chargedMicros: 7_000n, error: { code: 'execution_timeout' } });
    expect(await world.beat(claimed)).toBeNull();
  });
});
