import fc from 'fast-check';
import { Prisma } from '@prisma/client';
import { Redis } from 'ioredis';
import { LedgerStore, billingSettings } from '@millrace/billing';
import { newId } from '@millrace/contracts';
import { RefusedError } from '@millrace/database';
import { LaneProducer, RedisConnections } from '@millrace/messaging';
import { KeyRing, Metrics, createLogger, readSettings, type Loop } from '@millrace/platform';
import {
  createTestDatabase,
  makeAccount,
  makePool,
  testBilling,
  testRedisUrl,
  type TestDatabase,
} from '@millrace/testing';
import { JobAudit } from '../audit/job-audit';
import { composeExecution, type JobExecution } from '../composition';
import { UnclaimedStore } from '../dispatch/unclaimed.store';
import { JobModel, MODEL_LIMITS, type Operation } from '../fixtures/job-model';
import { SEED, anyOrder, withinTime, type Steps, type System } from '../fixtures/operations';
import { JobWorld, cloudScope } from '../fixtures/job-world';
import type { ClaimedAttempt, JobScope } from '../state/job';
import { jobSettings } from '../job.settings';
import { EndCanceledJobsLoop, ExpireOverdueJobsLoop, RescueLostJobsLoop } from '../lifecycle';
import type { AttemptResult } from '../lifecycle/job-ending';

const logger = createLogger('test', 'fatal');
const settings = {
  ...readSettings({ ...jobSettings, ...billingSettings }, {}),
  maxAttempts: MODEL_LIMITS.attempts,
  // A lease passes when an operation says so, and by no clock, as a run of all operations takes a second. A longer one would have
  // each heartbeat extend the hold, which is to last for a lease more.
  leaseSeconds: 40,
};
const ledger = new LedgerStore();

let test: TestDatabase;
let redis: RedisConnections;
let server: Redis;
let lanes: LaneProducer;
let jobs: JobExecution;
beforeAll(async () => {
  test = await createTestDatabase();
  redis = new RedisConnections(testRedisUrl(), logger);
  server = new Redis(testRedisUrl());
  const producer = redis.producer();
  await new Promise<void>((resolve) => producer.once('ready', () => resolve()));
  lanes = new LaneProducer(producer);
  const { database } = test;
  const secretKey = KeyRing.of(Buffer.alloc(32));
  jobs = composeExecution({ database, redis, logger, metrics: new Metrics('test'), settings, secretKey });
});
afterAll(async () => {
  await jobs.close();
  await lanes.close();
  await redis.close();
  server.disconnect();
  await test.drop();
});

async function sweepAll(loop: Loop): Promise<void> {
  while ((await loop.runOnce()) > 0);
}

/** PostgreSQL and Redis, moved by the same statements as in production; its clock is moved by hand. */
class RealJobs implements System {
  private readonly ids: string[] = [];
  private readonly fences: ClaimedAttempt[] = [];
  private minutesPassed = 0;
  private readonly scope: JobScope;
  private readonly world: JobWorld;

  private constructor(
    private readonly accountId: string,
    private readonly poolId: string,
  ) {
    this.scope = cloudScope(accountId);
    const limits = { runningLimit: MODEL_LIMITS.running, queueLimit: MODEL_LIMITS.queue };
    this.world = new JobWorld(test, { accountId, poolId, ...limits, holdMicros: BigInt(MODEL_LIMITS.hold) }, settings);
  }

  static async open(): Promise<RealJobs> {
    const accountId = await makeAccount(test.database, { micros: BigInt(MODEL_LIMITS.credits) });
    const { poolId, workerId } = await makePool(test.database);
    // Nothing is dispatched but by the test.
    await test.database.models.worker.delete({ where: { id: workerId } });
    return new RealJobs(accountId, poolId);
  }

  async apply(operation: Operation): Promise<string | null> {
    const { lifecycle } = jobs;
    const { database } = test;
    switch (operation.kind) {
      case 'submit':
        return this.submit(operation.key);
      case 'dispatch':
        return this.dispatch();
      case 'rescue':
        await sweepAll(new RescueLostJobsLoop(database, lifecycle));
        await sweepAll(new EndCanceledJobsLoop(database, lifecycle));
        return null;
      case 'expire':
        await sweepAll(new ExpireOverdueJobsLoop(database, lifecycle));
        return null;
      case 'top up':
        await this.topUp();
        return null;
      case 'empty Redis':
        return this.emptyRedis();
      case 'cancel':
      case 'claim':
      case 'lose lease':
      case 'pass deadline':
        return this.onJob(operation);
      case 'heartbeat':
      case 'finish':
      case 'give up':
      case 'hand back':
        return this.onFence(operation);
    }
  }

  async compare(model: JobModel): Promise<void> {
    const rows = await test.database.models.job.findMany({
      where: { accountId: this.accountId },
      include: { transitions: { orderBy: { seq: 'asc' } } },
      orderBy: { id: 'asc' },
    });
    const byId = new Map(rows.map((row) => [row.id, row]));
    const actual = this.ids.map((id) => {
      const row = byId.get(id);
      const history = row?.transitions.map(({ toStatus }) => toStatus);
      return { status: row?.status, delivery: row?.delivery, attempt: row?.attempt, history };
    });
    expect(actual).toEqual(
      model.jobs.map(({ status, delivery, attempt, history }) => ({ status, delivery, attempt, history })),
    );
    expect(rows).toHaveLength(model.jobs.length);
    for (const [number, job] of model.jobs.entries()) {
      const row = byId.get(this.ids[number] ?? '');
      const charged = row?.chargedMicros === null ? null : Number(row?.chargedMicros);
      expect(charged).toBe(job.charged);
    }
    const held = model.jobs.filter((job) => job.delivery !== 'done').length * MODEL_LIMITS.hold;
    expect(await ledger.balance(test.database, this.accountId)).toMatchObject({
      availableMicros: BigInt(model.available),
      heldMicros: BigInt(held),
    });
  }

  /** Every deadline passes: all of it must come to an end. */
  async endAll(): Promise<void> {
    await this.sql(Prisma.sql`
      UPDATE jobs SET deadline_at = now() - interval '1 s' WHERE account_id = ${this.accountId}::uuid AND delivery <> 'done'`);
    await sweepAll(new ExpireOverdueJobsLoop(test.database, jobs.lifecycle));
    const alive = await test.database.models.job.count({
      where: { accountId: this.accountId, delivery: { not: 'done' } },
    });
    expect(alive).toBe(0);
  }

  private async submit(key: number | null): Promise<string> {
    try {
      const idempotencyKey = key === null ? null : `key-${key}`;
      this.ids.push((await this.world.submit({ idempotencyKey })).id);
      return 'accepted';
    } catch (error) {
      if (error instanceof RefusedError) return error.reason;
      throw error;
    }
  }

  private async dispatch(): Promise<string | null> {
    const next = await this.world.dispatch(this.poolId);
    if (next === null) return null;
    await lanes.add(this.poolId, next);
    return `job ${this.ids.indexOf(next.jobId)} attempt ${next.attempt}`;
  }

  private async topUp(): Promise<void> {
    const amountMicros = BigInt(MODEL_LIMITS.topUp);
    const { credits } = testBilling(test.database);
    const adjustment = { amountMicros, reason: 'to be spent', expiresAt: null, corrects: null, key: null };
    await test.database.transaction((tx) => credits.adjust(tx, 'test', this.accountId, adjustment));
  }

  /** The lane loses everything; what Postgres holds to be in it is put back. */
  private async emptyRedis(): Promise<null> {
    const keys = await server.keys(`{millrace:${this.poolId}}*`);
    if (keys.length > 0) await server.del(...keys);
    await this.sql(Prisma.sql`
      UPDATE jobs SET dispatched_at = now() - interval '1 min'
      WHERE account_id = ${this.accountId}::uuid AND delivery = 'dispatched'`);
    const waiting = await new UnclaimedStore().list(test.database, this.poolId, {
      olderThanSeconds: 1,
      placedSeconds: 0,
    });
    // The minute passes for the dispatcher, too: it puts an attempt back once in a period.
    this.minutesPassed += 1;
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + this.minutesPassed * 60_000);
    const count = await jobs.dispatcher.redeliver(this.poolId).finally(() => clock.mockRestore());
    expect(count).toBe(waiting.length);
    expect(await lanes.states(this.poolId, waiting)).toEqual(waiting.map(() => 'waiting'));
    return null;
  }

  private async onJob(operation: Extract<Operation, { job: number }>): Promise<string | null> {
    const jobId = this.ids[operation.job % this.ids.length];
    if (jobId === undefined) return null;
    if (operation.kind === 'cancel') await jobs.lifecycle.cancel(this.scope, jobId);
    if (operation.kind === 'lose lease') await this.world.passLease(jobId);
    if (operation.kind === 'pass deadline') await this.world.passDeadline(jobId);
    return operation.kind === 'claim' ? this.claim(jobId, operation.stale) : null;
  }

  private async claim(jobId: string, stale: boolean): Promise<string | null> {
    const { attempt } = await test.database.models.job.findUniqueOrThrow({ where: { id: jobId } });
    const worker = { id: newId(), poolId: this.poolId, warm: [] };
    const { claimed } = await jobs.claims.take({ jobId, attempt: stale ? attempt : attempt + 1 }, worker);
    if (claimed === null) return null;
    // An attempt cannot have used the engine for longer than it has been claimed.
    await this.sql(Prisma.sql`
      UPDATE job_attempts SET claimed_at = now() - interval '20 s'
      WHERE job_id = ${jobId}::uuid AND attempt = ${claimed.attempt}`);
    this.fences.push(claimed);
    return 'claimed';
  }

  private async onFence(operation: Extract<Operation, { fence: number }>): Promise<string | null> {
    const fence = this.fences[operation.fence % this.fences.length];
    if (fence === undefined) return null;
    const { lifecycle } = jobs;
    switch (operation.kind) {
      case 'heartbeat':
        return (await lifecycle.heartbeat(fence, { progress: null, engineMs: operation.engineMs }))?.status ?? null;
      case 'hand back':
        return (await lifecycle.handBack(fence))?.status ?? null;
      case 'give up':
        return (await lifecycle.giveUp(fence, { by: 'engine', reason: 'a test', engineMs: 0 }))?.status ?? null;
      case 'finish':
        return (await lifecycle.finish(fence, resultOf(operation)))?.status ?? null;
    }
  }

  private async sql(statement: Prisma.Sql): Promise<void> {
    await test.database.execute(statement);
  }
}

const ENDINGS = { succeeded: 'succeeded', failed: 'node_failed', canceled: 'canceled_while_running' } as const;

function resultOf({ outcome, engineMs }: Extract<Operation, { kind: 'finish' }>): AttemptResult {
  const failure = outcome === 'failed' ? ({ code: 'node_execution_error', message: 'a test' } as const) : null;
  return { ending: ENDINGS[outcome], failure, engineMs, progress: null, nodes: [], log: null };
}

const TIME_MS = 12_000;

describe('jobs on PostgreSQL and Redis', () => {
  it(`do what the reference model does, in any order of events (seed ${SEED})`, async () => {
    const examine = withinTime(TIME_MS, async (steps: Steps) => {
      const real = await RealJobs.open();
      await fc.asyncModelRun(() => ({ model: new JobModel(), real }), steps);
      await real.endAll();
    });
    const property = fc.asyncProperty(anyOrder(40), examine);
    await fc.assert(property, { seed: SEED, numRuns: 300, endOnFailure: true });
    const findings: unknown[] = [];
    for await (const finding of new JobAudit(test.database).findings()) findings.push(finding);
    expect(findings).toEqual([]);
  });
});
