import { randomUUID } from 'node:crypto';
import { Prisma } from '@prisma/client';
import { LedgerStore } from '@millrace/billing';
import { newId } from '@millrace/contracts';
import { RefusedError } from '@millrace/database';
import { createTestDatabase, eventually, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { DispatchStore, type DispatchedJob } from '../rotation/turn.store';
import type { ClaimedAttempt } from '../state/job';
import { jobSettings, type JobSettings } from '../job.settings';
import { TRANSITIONS } from '../state/job-state';
import { LifecycleStore, guards, type Ending } from './lifecycle.store';
import type { JobDraft } from '../submission/submission';
import { OutputStore, type OutputRow } from '../outputs/output.store';
import { SubmissionStore } from '../submission/submission.store';
import { readSettings } from '@millrace/platform';

const settings: JobSettings = readSettings(jobSettings, {});
const ledger = new LedgerStore();
const submissions = new SubmissionStore(settings);
const lifecycle = new LifecycleStore();
const dispatch = new DispatchStore();

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

async function draft(overrides: Partial<JobDraft> = {}): Promise<JobDraft> {
  const accountId = overrides.accountId ?? (await makeAccount(test.database, { micros: 1_000_000n }));
  const poolId = overrides.poolId ?? (await makePool(test.database)).poolId;
  return {
    id: newId(),
    accountId,
    surface: 'cloud',
    deploymentId: null,
    apiKeyId: null,
    poolId,
    workflow: '{"1":{"class_type":"EmptyImage","inputs":{}}}',
    nodeCount: 1,
    inputAssetIds: [],
    metadata: {},
    idempotencyKey: null,
    weight: 1,
    runningLimit: 10,
    queueLimit: 10,
    priceMicrosPerSecond: 1_000n,
    holdMicros: 60_000n,
    hasSecrets: false,
    models: [],
    traceparent: null,
    ...overrides,
  };
}

async function submit(overrides: Partial<JobDraft> = {}): Promise<JobDraft> {
  const made = await draft(overrides);
  await submissions.record(test.database, made);
  return made;
}

async function start(job: JobDraft, leaseSeconds = 10): Promise<ClaimedAttempt> {
  const dispatched = await dispatch.dispatchNext(test.database, job.poolId, 100);
  if (dispatched === null) throw new Error('nothing was dispatched');
  const claimed = await lifecycle.claim(test.database, {
    jobId: dispatched.jobId,
    attempt: dispatched.attempt,
    workerId: newId(),
    leaseToken: randomUUID(),
    leaseSeconds,
  });
  if (claimed === null) throw new Error('nothing was claimed');
  return claimed;
}

const ending = (overrides: Partial<Ending> = {}): Ending => ({
  status: 'succeeded',
  cause: 'test',
  failure: null,
  engineMs: 0,
  outcome: 'succeeded',
  progress: null,
  nodes: null,
  log: null,
  ...overrides,
});

/** An output whose bytes are said to be stored. */
async function madeBy(accountId: string): Promise<OutputRow> {
  const hash = `blake3:${'0'.repeat(64)}`;
  const { createdAt: bornAt } = await test.database.models.blob.create({ data: { accountId, hash, sizeBytes: 1n } });
  const asset = { id: newId(), blob: { accountId, hash, bornAt }, contentType: 'text/plain', name: 'a.txt' };
  return { nodeId: '1', nodeIndex: 0, ordinal: 0, type: 'text', asset };
}

const beat = { leaseSeconds: 10, progress: null, engineMs: 0, holdExtensionSeconds: 60 };

async function history(jobId: string): Promise<string[]> {
  const rows = await test.database.models.jobTransition.findMany({ where: { jobId }, orderBy: { seq: 'asc' } });
  return rows.map((row) => row.toStatus);
}

async function queueOf(job: JobDraft): Promise<{ waiting: number; inFlight: number }> {
  const { poolId, accountId } = job;
  const row = await test.database.models.accountQueue.findUniqueOrThrow({
    where: { poolId_accountId: { poolId, accountId } },
  });
  return { waiting: row.waiting, inFlight: row.inFlight };
}

describe('a submission', () => {
  it('records job, graph, history, queue and hold together', async () => {
    const job = await submit({ metadata: { user: 'u1' } });
    const row = await test.database.models.job.findUniqueOrThrow({ where: { id: job.id }, include: { graph: true } });
    expect(row).toMatchObject({ status: 'queued', delivery: 'waiting', heldMicros: 60_000n, metadata: { user: 'u1' } });
    expect(row.graph?.workflow).toBe(job.workflow);
    expect(await history(job.id)).toEqual(['queued']);
    expect(await queueOf(job)).toEqual({ waiting: 1, inFlight: 0 });
    expect(await ledger.balance(test.database, job.accountId)).toEqual({
      availableMicros: 940_000n,
      heldMicros: 60_000n,
    });
  });

  it('refused for want of credits leaves nothing behind, and its key is free again', async () => {
    const accountId = await makeAccount(test.database, { micros: 100n });
    const refused = await draft({ accountId, idempotencyKey: 'k1' });
    await expect(submissions.record(test.database, refused)).rejects.toEqual(new RefusedError('insufficient_credits'));
    expect(await test.database.models.job.count({ where: { accountId } })).toBe(0);
    expect(await test.database.models.idempotencyKey.count({ where: { accountId } })).toBe(0);
    expect(await test.database.models.accountQueue.count({ where: { accountId } })).toBe(0);
    await submissions.record(test.database, { ...refused, holdMicros: 100n });
  });

  it('is refused when the account has as many jobs waiting as it may', async () => {
    const first = await submit({ queueLimit: 1 });
    const second = await draft({ accountId: first.accountId, poolId: first.poolId, queueLimit: 1 });
    await expect(submissions.record(test.database, second)).rejects.toEqual(new RefusedError('queue_full'));
  });

  it('sent twenty times at once with one key is accepted once', async () => {
    const one = await draft({ idempotencyKey: 'same', queueLimit: 100 });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => submissions.record(test.database, { ...one, id: newId() })),
    );
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused).toHaveLength(19);
    for (const { reason } of refused) expect(reason).toEqual(new RefusedError('idempotency_key_reuse'));
    expect(await test.database.models.job.count({ where: { accountId: one.accountId } })).toBe(1);
  });
});

describe('an attempt', () => {
  it('is claimed once, however many workers see its message', async () => {
    const job = await submit();
    const dispatched = await dispatch.dispatchNext(test.database, job.poolId, 10);
    const claims = await Promise.all(
      Array.from({ length: 8 }, () =>
        lifecycle.claim(test.database, {
          jobId: job.id,
          attempt: dispatched?.attempt ?? 0,
          workerId: newId(),
          leaseToken: randomUUID(),
          leaseSeconds: 10,
        }),
      ),
    );
    expect(claims.filter((claim) => claim !== null)).toHaveLength(1);
    expect(await history(job.id)).toEqual(['queued', 'running']);
    expect(await queueOf(job)).toEqual({ waiting: 0, inFlight: 1 });
  });

  it('ends with a charge for the time used, the rest of the hold given back, and counters at zero', async () => {
    const job = await submit();
    const claimed = await start(job);
    await test.database.execute(
      Prisma.sql`UPDATE job_attempts SET claimed_at = now() - interval '10 s' WHERE job_id = ${job.id}::uuid`,
    );
    const moved = await lifecycle.end(test.database, guards.fence(claimed), ending({ engineMs: 2_500 }));
    expect(moved).toMatchObject({ from: 'running', status: 'succeeded', chargedMicros: 2_500n });
    expect(await ledger.balance(test.database, job.accountId)).toEqual({ availableMicros: 997_500n, heldMicros: 0n });
    expect(await queueOf(job)).toEqual({ waiting: 0, inFlight: 0 });
    const usage = await test.database.models.usageRecord.findUniqueOrThrow({ where: { jobId: job.id } });
    expect(usage).toMatchObject({ billableMs: 2_500n, chargedMicros: 2_500n, status: 'succeeded' });
  });

  it('is never charged for more time than has passed, nor for more than was held', async () => {
    const quick = await submit();
    const claimed = await start(quick);
    const moved = await lifecycle.end(test.database, guards.fence(claimed), ending({ engineMs: 3_600_000 }));
    expect(Number(moved?.chargedMicros)).toBeLessThan(5_000);
    const long = await submit({ holdMicros: 10n });
    const other = await start(long);
    await test.database.execute(
      Prisma.sql`UPDATE job_attempts SET claimed_at = now() - interval '1 h' WHERE job_id = ${long.id}::uuid`,
    );
    const capped = await lifecycle.end(test.database, guards.fence(other), ending({ engineMs: 3_600_000 }));
    expect(capped?.chargedMicros).toBe(10n);
  });

  it('of a worker that lost its lease changes nothing', async () => {
    const job = await submit();
    const zombie = await start(job, -1);
    const taken = await lifecycle.takeBack(test.database, job.id);
    expect(taken).toMatchObject({ status: 'running', attempt: 1 });
    const second = await start(job);
    expect(second.attempt).toBe(2);
    expect(await lifecycle.heartbeat(test.database, zombie, beat)).toBeNull();
    expect(await lifecycle.end(test.database, guards.fence(zombie), ending())).toBeNull();
    expect(await lifecycle.handBack(test.database, zombie)).toBeNull();
    expect(await lifecycle.heartbeat(test.database, second, beat)).toEqual({ status: 'running', exhausted: false });
    expect(await history(job.id)).toEqual(['queued', 'running']);
  });

  it('handed back does not count against the attempts, and is not charged', async () => {
    const job = await submit();
    const first = await start(job);
    await lifecycle.handBack(test.database, first);
    const row = await test.database.models.job.findUniqueOrThrow({ where: { id: job.id } });
    expect(row).toMatchObject({ status: 'running', delivery: 'waiting', maxAttempts: settings.maxAttempts + 1 });
    expect(await queueOf(job)).toEqual({ waiting: 1, inFlight: 0 });
    const second = await start(job);
    const moved = await lifecycle.end(test.database, guards.fence(second), ending({ engineMs: 0 }));
    expect(moved?.chargedMicros).toBe(0n);
    expect(await ledger.balance(test.database, job.accountId)).toEqual({ availableMicros: 1_000_000n, heldMicros: 0n });
  });
});

describe('canceling', () => {
  const scopeOf = (job: JobDraft): JobDraft => job;

  it('ends a queued job at once and charges nothing', async () => {
    const job = await submit();
    const guard = guards.queued(scopeOf(job), job.id);
    const moved = await lifecycle.end(test.database, guard, ending({ status: 'canceled', outcome: 'canceled' }));
    expect(moved).toMatchObject({ from: 'queued', status: 'canceled', chargedMicros: 0n });
    expect(await queueOf(job)).toEqual({ waiting: 0, inFlight: 0 });
  });

  it('of a running job ends it canceled, whatever its worker reports', async () => {
    const job = await submit();
    const claimed = await start(job);
    expect(await lifecycle.requestCancel(test.database, scopeOf(job), job.id)).toMatchObject({ status: 'canceling' });
    expect(await lifecycle.requestCancel(test.database, scopeOf(job), job.id)).toBeNull();
    const moved = await lifecycle.end(test.database, guards.fence(claimed), ending());
    expect(moved).toMatchObject({ from: 'canceling', status: 'canceled' });
    expect(await history(job.id)).toEqual(['queued', 'running', 'canceling', 'canceled']);
  });
});

describe('a fence', () => {
  it('is job, attempt and token: with any of them wrong, nothing changes and no output is recorded', async () => {
    const job = await submit();
    const other = await submit();
    const fence = await start(job);
    const wrong = [
      { ...fence, attempt: fence.attempt + 1 },
      { ...fence, leaseToken: randomUUID() },
      { ...fence, jobId: other.id },
    ];
    const outputs = new OutputStore();
    const output = await madeBy(job.accountId);
    for (const one of wrong) {
      expect(await lifecycle.heartbeat(test.database, one, beat)).toBeNull();
      expect(await lifecycle.handBack(test.database, one)).toBeNull();
      expect(await lifecycle.end(test.database, guards.fence(one), ending())).toBeNull();
      expect(await outputs.record(test.database, one, output)).toBe('lease_lost');
    }
    expect(await outputs.record(test.database, fence, output)).toBe('recorded');
    expect(await lifecycle.heartbeat(test.database, fence, beat)).toEqual({ status: 'running', exhausted: false });
  });

  it('holds while its lease does: nobody takes a live attempt back', async () => {
    const job = await submit();
    const fence = await start(job);
    expect(await lifecycle.takeBack(test.database, job.id)).toBeNull();
    expect(await lifecycle.end(test.database, guards.lost(job.id), ending())).toBeNull();
    expect(await lifecycle.heartbeat(test.database, fence, beat)).toEqual({ status: 'running', exhausted: false });
  });
});

describe('a claim', () => {
  it('takes the attempt that was dispatched and no other, and none past the deadline', async () => {
    const job = await submit();
    const early = { workerId: newId(), leaseToken: randomUUID(), leaseSeconds: 10 };
    expect(await lifecycle.claim(test.database, { jobId: job.id, attempt: 1, ...early })).toBeNull();
    const next = await dispatch.dispatchNext(test.database, job.poolId, 100);
    const worker = { workerId: newId(), leaseToken: randomUUID(), leaseSeconds: 10 };
    const claim = { jobId: job.id, attempt: next?.attempt ?? 0, ...worker };
    expect(await lifecycle.claim(test.database, { ...claim, attempt: claim.attempt + 1 })).toBeNull();
    await test.database.execute(Prisma.sql`UPDATE jobs SET deadline_at = now() WHERE id = ${job.id}::uuid`);
    expect(await lifecycle.claim(test.database, claim)).toBeNull();
  });
});

describe('an end', () => {
  it('that is only for what has not started, or was asked to stop, leaves a running job alone', async () => {
    const job = await submit();
    const fence = await start(job);
    const canceled = ending({ status: 'canceled', outcome: 'canceled' });
    expect(await lifecycle.end(test.database, guards.queued(job, job.id), canceled)).toBeNull();
    expect(await lifecycle.end(test.database, guards.canceling(fence), canceled)).toBeNull();
    expect(await lifecycle.heartbeat(test.database, fence, beat)).toEqual({ status: 'running', exhausted: false });
  });

  it('by the clock comes neither before the deadline, nor while there is another attempt, nor under a worker', async () => {
    const job = await submit();
    await start(job, 0);
    const over = ending({ status: 'failed', failure: { code: 'worker_lost', message: 'a test' } });
    expect(await lifecycle.end(test.database, guards.overdue(job.id), over)).toBeNull();
    expect(await lifecycle.end(test.database, guards.lost(job.id), over)).toBeNull();
    await lifecycle.requestCancel(test.database, job, job.id);
    expect(await lifecycle.end(test.database, guards.cancelingUnleased(job.id), over)).toBeNull();
  });
});

describe('an attempt between two workers', () => {
  it('is not claimed once its job is to be canceled', async () => {
    const job = await submit();
    await lifecycle.handBack(test.database, await start(job));
    const next = await dispatch.dispatchNext(test.database, job.poolId, 100);
    await lifecycle.requestCancel(test.database, job, job.id);
    const worker = { workerId: newId(), leaseToken: randomUUID(), leaseSeconds: 10 };
    const claim = { jobId: job.id, attempt: next?.attempt ?? 0, ...worker };
    expect(await lifecycle.claim(test.database, claim)).toBeNull();
  });

  it('is not given another when it was the last', async () => {
    const job = await submit();
    await test.database.execute(Prisma.sql`UPDATE jobs SET max_attempts = 1 WHERE id = ${job.id}::uuid`);
    expect(await lifecycle.giveUp(test.database, await start(job))).toBeNull();
  });
});

describe('a terminal job', () => {
  it('is left by nothing, not even a statement that forgot its guard', async () => {
    const job = await submit();
    const claimed = await start(job);
    await lifecycle.end(test.database, guards.fence(claimed), ending());
    const update = test.database.execute(Prisma.sql`UPDATE jobs SET priority = 1 WHERE id = ${job.id}::uuid`);
    await expect(update).rejects.toThrow('nothing leaves a terminal state');
  });
});

describe('the database', () => {
  it('refuses what no statement should ask', async () => {
    const job = await submit();
    await start(job);
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
    const job = await submit();
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

describe('dispatching', () => {
  it('takes turns between accounts, whoever queued first and how many', async () => {
    const { poolId } = await makePool(test.database);
    const heavy = await makeAccount(test.database);
    const light = await makeAccount(test.database);
    const free = { priceMicrosPerSecond: 0n, holdMicros: 0n, poolId, queueLimit: 1_000, runningLimit: 100 };
    for (let i = 0; i < 20; i += 1) await submit({ ...free, accountId: heavy });
    for (let i = 0; i < 3; i += 1) await submit({ ...free, accountId: light });
    const order: string[] = [];
    for (let i = 0; i < 8; i += 1) {
      const next = await dispatch.dispatchNext(test.database, poolId, 100);
      const row = await test.database.models.job.findUniqueOrThrow({ where: { id: next?.jobId } });
      order.push(row.accountId === heavy ? 'heavy' : 'light');
    }
    expect(order.filter((who) => who === 'light')).toHaveLength(3);
    expect(order.slice(0, 6).filter((who) => who === 'light')).toHaveLength(3);
  });

  it("takes an account's jobs by priority, then by age, and gives no account more turns for it", async () => {
    const { poolId } = await makePool(test.database, 10);
    const urgent = await makeAccount(test.database);
    const other = await makeAccount(test.database);
    const free = { poolId, priceMicrosPerSecond: 0n, holdMicros: 0n };
    const [first, second, third] = [
      await submit({ ...free, accountId: urgent }),
      await submit({ ...free, accountId: urgent }),
      await submit({ ...free, accountId: urgent }),
    ];
    const theirs = [await submit({ ...free, accountId: other }), await submit({ ...free, accountId: other })];
    await test.database.models.job.updateMany({ where: { id: { in: [second.id, third.id] } }, data: { priority: 5 } });
    const order: string[] = [];
    for (let n = 0; n < 5; n += 1) order.push((await dispatch.dispatchNext(test.database, poolId, 10))?.jobId ?? '');
    expect(order.filter((id) => [first.id, second.id, third.id].includes(id))).toEqual([second.id, third.id, first.id]);
    expect(order.slice(0, 4).filter((id) => theirs.some((job) => job.id === id))).toHaveLength(2);
  });

  it('gives an account of weight 3 three turns to one', async () => {
    const { poolId } = await makePool(test.database);
    const triple = await makeAccount(test.database);
    const single = await makeAccount(test.database);
    const free = { priceMicrosPerSecond: 0n, holdMicros: 0n, poolId, queueLimit: 1_000, runningLimit: 100 };
    for (let i = 0; i < 12; i += 1) {
      await submit({ ...free, accountId: triple, weight: 3 });
      await submit({ ...free, accountId: single });
    }
    let tripleTurns = 0;
    for (let i = 0; i < 12; i += 1) {
      const next = await dispatch.dispatchNext(test.database, poolId, 100);
      const row = await test.database.models.job.findUniqueOrThrow({ where: { id: next?.jobId } });
      if (row.accountId === triple) tripleTurns += 1;
    }
    expect(tripleTurns).toBe(9);
  });

  it('never fills more than the room there is, however many processes dispatch at once', async () => {
    const { poolId } = await makePool(test.database);
    const free = { priceMicrosPerSecond: 0n, holdMicros: 0n, poolId, queueLimit: 1_000, runningLimit: 100 };
    const accountId = await makeAccount(test.database);
    for (let i = 0; i < 12; i += 1) await submit({ ...free, accountId });
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(Array.from({ length: 8 }, () => dispatch.dispatchNext(test.database, poolId, 3)));
    }
    expect(await test.database.models.job.count({ where: { poolId, delivery: 'dispatched' } })).toBe(3);
  });

  it('leaves a pool to the process that dispatches for it, without waiting', async () => {
    const { poolId } = await makePool(test.database);
    const free = { priceMicrosPerSecond: 0n, holdMicros: 0n, poolId };
    await submit(free);
    await submit(free);
    const answers: (DispatchedJob | null)[] = [];
    await test.database.transaction(async (tx) => {
      answers.push(await dispatch.dispatchNext(tx, poolId, 1));
      void dispatch.dispatchNext(test.database, poolId, 1).then((answer) => answers.push(answer));
      await eventually('the other has answered, or waits', async () => {
        const waiting = await test.database.query(Prisma.sql`
          SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`);
        return answers.length > 1 || waiting.length > 0;
      });
    });
    expect(answers).toEqual([expect.objectContaining({ attempt: 1 }), null]);
  });

  it('stops at the room there is, and at what an account may run', async () => {
    const { poolId } = await makePool(test.database);
    const free = { priceMicrosPerSecond: 0n, holdMicros: 0n, poolId };
    const limited = await makeAccount(test.database);
    for (let i = 0; i < 4; i += 1) await submit({ ...free, accountId: limited, runningLimit: 2 });
    let count = 0;
    while ((await dispatch.dispatchNext(test.database, poolId, 10)) !== null) count += 1;
    expect(count).toBe(2);
    await submit(free);
    expect(await dispatch.dispatchNext(test.database, poolId, 2)).toBeNull();
    expect(await dispatch.dispatchNext(test.database, poolId, 3)).not.toBeNull();
  });
});
