import { randomUUID } from 'node:crypto';
import { Prisma } from '@prisma/client';
import type { DispatchMessage, GatewayAttempt } from '@millrace/contracts';
import { RemoteAttempts } from '@millrace/jobs';
import { eventually } from '@millrace/testing';
import { GatewayWorld, type GatewayAnswer, type RemoteWorker } from './fixtures/gateway-world';

let world: GatewayWorld;
beforeAll(async () => {
  world = await GatewayWorld.open({ workersPerToken: 2 }, 2);
});
afterAll(() => world.close());

const succeeded = {
  kind: 'finished',
  result: { ending: 'succeeded', failure: null, engineMs: 5, progress: null, nodes: null, log: null },
  last: null,
};

interface Claim {
  message: DispatchMessage;
  warm: string[];
  claimId: string;
  graphApart?: boolean;
}

/** Send a claim to one of the gateways. */
function send(worker: RemoteWorker, body: Claim, gateway: number, signal?: AbortSignal): Promise<GatewayAnswer> {
  const given = { token: worker.token, body, gateway, ...(signal && { signal }) };
  return world.ask('POST', `workers/${worker.id}/claims`, given);
}

async function claim(worker: RemoteWorker, body: Claim, gateway = 0): Promise<GatewayAttempt | null> {
  const answer = await send(worker, body, gateway);
  expect(answer.status).toBe(200);
  return answer.body.claimed as GatewayAttempt | null;
}

/** A worker, and its claim for a job that waits. */
async function claiming(): Promise<{ worker: RemoteWorker; job: string; body: Claim }> {
  const worker = await world.worker();
  const job = await world.submit(worker.poolId);
  return { worker, job, body: { message: await worker.offer(), warm: [], claimId: randomUUID() } };
}

/** What a statement of a test keeps locked until it is let go. */
async function locked(statement: Prisma.Sql): Promise<() => Promise<void>> {
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const over = world.test.database.transaction(async (tx) => {
    await tx.query(statement);
    begin();
    await held;
  });
  await begun;
  return () => {
    letGo();
    return over;
  };
}

/** Waits until so many statements wait for a lock. */
const untilWaiting = (count: number): Promise<unknown> =>
  eventually(`${count} to wait`, async () => {
    const [row] = await world.test.database.query<{ waiting: number }>(Prisma.sql`
      SELECT count(DISTINCT l.pid)::int AS waiting FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
      WHERE NOT l.granted AND a.datname = current_database()`);
    return row?.waiting === count;
  });

const leases = (worker: RemoteWorker): Promise<number> =>
  world.test.database.models.job.count({ where: { poolId: worker.poolId, delivery: 'leased' } });

describe('a claim whose answer is lost', () => {
  it('is answered again with the same attempt under the same lease, and takes no other', async () => {
    const { worker, job, body } = await claiming();
    const first = await claim(worker, body);
    expect(first).toMatchObject({ jobId: job, attempt: 1, leaseToken: body.claimId });
    await world.test.database.models.job.update({
      where: { id: job },
      data: { leaseExpiresAt: new Date(Date.now() + 1_000) },
    });
    const second = await world.submit(worker.poolId);
    const message = await worker.offer();
    expect(message.jobId).toBe(second);
    expect(await claim(worker, { ...body, message }, 1)).toEqual(first);
    expect(await world.job(second)).toMatchObject({ delivery: 'dispatched' });
    expect(await world.test.database.models.jobAttempt.count({ where: { jobId: job } })).toBe(1);
    // The time until the answer arrived is not taken from the lease.
    const { leaseExpiresAt } = await world.test.database.models.job.findUniqueOrThrow({ where: { id: job } });
    expect(leaseExpiresAt?.getTime()).toBeGreaterThan(Date.now() + 60_000);
    expect((await worker.of(first as GatewayAttempt, 'POST', 'ends', succeeded)).body).toEqual({ recorded: true });
  });

  it('shows the progress that was published meanwhile, as a claim does', async () => {
    const { worker, body } = await claiming();
    const first = (await claim(worker, body)) as GatewayAttempt;
    const progress = { value: 0.5, nodes_done: 0, nodes_total: 1 };
    await worker.of(first, 'POST', 'events', { kind: 'progress', progress });
    await eventually('the progress to be there', async () => {
      const again = await claim(worker, body);
      return again?.progress?.value === 0.5;
    });
  });

  it('is answered with the same by another gateway while the first works on it', async () => {
    const { worker, job, body } = await claiming();
    const letGo = await locked(Prisma.sql`SELECT id FROM jobs WHERE id = ${job}::uuid FOR UPDATE`);
    const first = claim(worker, body, 0);
    await untilWaiting(1);
    const again = claim(worker, body, 1);
    await untilWaiting(2);
    await letGo();
    expect((await Promise.all([first, again])).map((attempt) => attempt?.jobId)).toEqual([job, job]);
    expect(await world.job(job)).toMatchObject({ delivery: 'leased', attempt: 1 });
  });

  it('leases no second job where its first request arrives after the one that was answered', async () => {
    const worker = await world.worker();
    const accountId = await world.account();
    const names = ['cold.safetensors', 'warm.safetensors'];
    for (const model of names) {
      await world.model(accountId, model, model);
      await world.submit(worker.poolId, { accountId, model });
    }
    const offered = await worker.offer();
    const [cold = '', warm = ''] = names;
    const message = { ...offered, models: [cold] };
    const body = { message, warm: [warm], claimId: randomUUID() };
    // What suits the worker better than its message.
    const answered = await claim(worker, body, 1);
    expect(answered?.models).toEqual([warm]);
    expect(await claim(worker, body, 0)).toEqual(answered);
    expect(await leases(worker)).toBe(1);
  });

  it('takes its message where the claim itself did not arrive, and nothing twice where all requests do', async () => {
    const { worker, job, body } = await claiming();
    const answers = await Promise.all([0, 1, 0].map((gateway) => claim(worker, body, gateway)));
    expect(answers.map((attempt) => attempt?.jobId)).toEqual([job, job, job]);
    expect(await world.job(job)).toMatchObject({ delivery: 'leased', attempt: 1 });
  });

  it('takes nothing for a request that nobody waits for any more', async () => {
    const { worker, job, body } = await claiming();
    const key = `claim ${worker.id} ${body.claimId}`;
    const letGo = await locked(Prisma.sql`SELECT pg_advisory_xact_lock(hashtextextended(${key}, 0))::text AS locked`);
    const leaving = new AbortController();
    const gone = send(worker, body, 0, leaving.signal).catch(() => 'gone');
    await untilWaiting(1);
    leaving.abort();
    expect(await gone).toBe('gone');
    await eventually('the gateway to notice', async () => {
      const { values } = await world.metrics.remoteRequests.get();
      return values.some(({ labels, value }) => labels.outcome === 'left' && value > 0);
    });
    await letGo();
    await untilWaiting(0);
    expect(await world.job(job)).toMatchObject({ delivery: 'dispatched', attempt: 0 });
    expect(await claim(worker, body, 1)).toMatchObject({ jobId: job });
  });

  it('is not answered again once its lease has run out or its attempt is over', async () => {
    const { worker, job, body } = await claiming();
    const attempt = (await claim(worker, body)) as GatewayAttempt;
    await world.test.database.models.job.update({ where: { id: job }, data: { leaseExpiresAt: new Date(0) } });
    expect(await claim(worker, body)).toBeNull();
    await worker.of(attempt, 'POST', 'ends', succeeded);
    expect(await claim(worker, body)).toBeNull();
  });

  it('gives nothing to another worker, of its pool or of another, that knows its id', async () => {
    const { worker, body } = await claiming();
    const neighbour = await world.worker({ ...worker });
    const stranger = await world.worker();
    await claim(worker, body);
    for (const other of [neighbour, stranger]) expect(await claim(other, body)).toBeNull();
  });
});

describe('a message of one gateway', () => {
  /** Less than the first gateway keeps it for its worker. */
  const BEFORE_IT_IS_LET_GO_MS = 8_000;
  const leave = (worker: RemoteWorker, message: DispatchMessage): Promise<GatewayAnswer> =>
    world.ask('POST', `workers/${worker.id}/offers/left`, { token: worker.token, body: { message }, gateway: 1 });

  it('that is left at another is offered to others at once', async () => {
    const { worker, job, body } = await claiming();
    const neighbour = await world.worker({ ...worker });
    const begun = performance.now();
    expect((await leave(worker, body.message)).status).toBe(200);
    expect((await neighbour.offer()).jobId).toBe(job);
    expect(performance.now() - begun).toBeLessThan(BEFORE_IT_IS_LET_GO_MS);
  });

  it('waits to be claimed until it is, in its own pool alone', async () => {
    const { worker, body } = await claiming();
    const { poolId } = await world.pool();
    const attempts = new RemoteAttempts(world.test.database);
    const isOffered = (pool: string, attempt = 1): Promise<boolean> =>
      attempts.isOffered(pool, { ...body.message, attempt });
    expect(await Promise.all([isOffered(worker.poolId), isOffered(poolId), isOffered(worker.poolId, 2)])).toEqual([
      true,
      false,
      false,
    ]);
    await claim(worker, body, 1);
    expect(await Promise.all([isOffered(worker.poolId), isOffered(worker.poolId, 2)])).toEqual([false, false]);
  });
});

describe('a large graph', () => {
  const LARGE = 300_000;

  it('is read apart by a worker that asks for that, and by no other', async () => {
    const worker = await world.worker();
    const job = await world.submit(worker.poolId, { paddingBytes: LARGE });
    const body = { message: await worker.offer(), warm: [], claimId: randomUUID(), graphApart: true };
    const claimed = await claim(worker, body);
    if (claimed === null) throw new Error('nothing was claimed');
    expect(claimed).toMatchObject({ jobId: job, leaseToken: body.claimId });
    expect(claimed.workflow).toBeUndefined();
    const { status, body: graph } = await worker.of(claimed, 'GET', 'graph');
    expect(status).toBe(200);
    expect(String(graph.workflow).length).toBeGreaterThan(LARGE);
    // A worker of an earlier version has it with its claim.
    expect((await claim(worker, { ...body, graphApart: false }))?.workflow).toBe(graph.workflow);
    const stranger = await world.worker();
    expect((await stranger.of(claimed, 'GET', 'graph')).status).toBe(403);
    expect((await worker.of({ ...claimed, leaseToken: randomUUID() }, 'GET', 'graph')).status).toBe(403);
  });

  it('is with the claim where it is not large', async () => {
    const { worker, body } = await claiming();
    expect((await claim(worker, { ...body, graphApart: true }))?.workflow).toMatch(/^\{/);
  });
});
