import { Prisma } from '@prisma/client';
import { newId, type Job, type JobAttempts } from '@millrace/contracts';
import { ApiClient } from '@millrace/testing';
import { GRAPH, announceCatalogue } from '../fixtures/own-records';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

interface Entry {
  id: string;
  actor: string;
  action: string;
  subject_id: string;
  account_id: string | null;
  address: string | null;
  details: Record<string, unknown>;
}

let api: RunningApi;
let pool: string;
let account: TestAccount;
beforeAll(async () => {
  api = await RunningApi.open();
  pool = api.env.MILLRACE_POOL ?? '';
  await announceCatalogue(api, pool);
});
beforeEach(async () => {
  account = await api.account();
});
afterAll(() => api.close());

async function logged(query: Record<string, string>): Promise<Entry[]> {
  const { body } = await api
    .operator()
    .call<{ entries: Entry[] }>('GET', `/admin/v1/audit-log?${new URLSearchParams(query).toString()}`);
  return body.entries;
}
const patch = (json: object, id = account.id) => api.operator().call('PATCH', `/admin/v1/accounts/${id}`, { json });
const post = <T>(path: string) => api.operator().call<T>('POST', `/admin/v1${path}`);

const redrive = (job: string, key: string) =>
  api.operator().call<{ id: string }>('POST', `/admin/v1/jobs/${job}/redrive`, { headers: { 'idempotency-key': key } });

/** A job that its owner submitted under a key, and that was canceled. */
async function endedJob(key: string): Promise<string> {
  const headers = { 'idempotency-key': key };
  const { body } = await api.client(account.key).submit(JSON.stringify({ workflow: GRAPH }), headers);
  await post(`/jobs/${body.id}/cancel`);
  return body.id;
}

describe('the audit log', () => {
  it('has every act of operators and keys: who, what, from where', async () => {
    await patch({ running_limit: 2 });
    await api.client(account.key).call('POST', `/platform/v1/api-keys/${account.keyId}/rotate`);
    const entries = await logged({ account_id: account.id });
    expect(entries.map(({ action }) => action)).toEqual([
      'api_key.rotate',
      'account.update',
      'api_key.create',
      'credits.adjust',
      'account.create',
    ]);
    expect(entries[0]).toMatchObject({ actor: `api_key:${account.keyId}`, subject_id: account.keyId });
    expect(entries[1]).toMatchObject({ actor: 'admin', details: { runningLimit: 2 } });
    for (const { address } of entries) expect(address).toBe('127.0.0.1');
  });

  it('never holds a key', async () => {
    for (const entry of await logged({ account_id: account.id })) {
      expect(JSON.stringify(entry)).not.toContain(account.key.slice(8));
    }
  });

  it('comes in pages that miss nothing and repeat nothing, and is filtered by its fields', async () => {
    for (const weight of [2, 3, 4]) await patch({ weight });
    const all = await logged({ account_id: account.id, limit: '100' });
    const seen: Entry[] = [];
    let cursor: string | undefined;
    do {
      const query = new URLSearchParams({
        account_id: account.id,
        limit: '2',
        ...(cursor === undefined ? {} : { cursor }),
      });
      const { body } = await api
        .operator()
        .call<{ entries: Entry[]; next_cursor?: string }>('GET', `/admin/v1/audit-log?${query.toString()}`);
      seen.push(...body.entries);
      cursor = body.next_cursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(all);
    expect(await logged({ account_id: account.id, action: 'account.update' })).toHaveLength(3);
    expect(await logged({ account_id: account.id, actor: 'nobody' })).toEqual([]);
    const wrong = await api.operator().call('GET', '/admin/v1/audit-log?cursor=x&limit=20');
    expect(wrong).toMatchObject({ status: 400, body: { error: { code: 'invalid_cursor' } } });
  });

  it('has nothing that did not happen', async () => {
    const unknown = newId();
    expect((await patch({ weight: 2 }, unknown)).status).toBe(404);
    expect((await post(`/jobs/${unknown}/cancel`)).status).toBe(404);
    expect((await post(`/workers/${unknown}/drain`)).status).toBe(404);
    expect(await logged({ subject_id: unknown })).toEqual([]);
  });
});

describe("an account's limits", () => {
  const place = () =>
    api.test.database.models.accountQueue.findUniqueOrThrow({
      where: { poolId_accountId: { poolId: pool, accountId: account.id } },
    });

  it('bind jobs that wait already as soon as they change, and a later job does not undo it', async () => {
    await api.client(account.key).run(GRAPH);
    expect(await place()).toMatchObject({ weight: 1, runningLimit: 100 });
    await patch({ running_limit: 1, weight: 7 });
    expect(await place()).toMatchObject({ weight: 7, runningLimit: 1 });
    await api.client(account.key).run(GRAPH);
    expect(await place()).toMatchObject({ weight: 7, runningLimit: 1, waiting: 2 });
    await patch({ running_limit: null });
    expect(await place()).toMatchObject({ runningLimit: 100 });
  });

  it('bound its queue: one more job is refused with a time to wait', async () => {
    await patch({ queue_limit: 1 });
    await api.client(account.key).run(GRAPH);
    const { status, body, headers } = await api.client(account.key).submit(JSON.stringify({ workflow: GRAPH }));
    expect({ status, code: (body as unknown as { error: { code: string } }).error.code }).toEqual({
      status: 429,
      code: 'queue_full',
    });
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
  });

  it('are shown with what is used of them', async () => {
    await api.client(account.key).run(GRAPH);
    await patch({ requests_per_minute: 50 });
    const { body } = await api.client(account.key).call<object>('GET', '/platform/v1/account');
    expect(body).toMatchObject({
      limits: { requests_per_minute: 50, polls_per_minute: 500 },
      use: { queued_jobs: 1, running_jobs: 0 },
    });
  });
});

describe('the admin API', () => {
  it('asks a caller without an admin token for it, by its name', async () => {
    const { status, body } = await api.operator(null).call('GET', '/admin/v1/workers');
    expect([status, body.error.message]).toEqual([401, 'Send the header Authorization: Bearer <admin token>.']);
  });
});

describe('requests per minute', () => {
  it('are shown on every answer, a refusal too, and polls are counted by themselves', async () => {
    const client = api.client(account.key);
    const { headers } = await client.call('GET', '/api/v2/jobs');
    expect(headers['ratelimit-policy']).toBe('"requests";q=12000;w=60');
    expect(headers.ratelimit).toMatch(/^"requests";r=1199\d;t=\d+$/);
    const missing = await client.call('GET', `/api/v2/jobs/${newId()}`);
    expect(missing.status).toBe(404);
    expect(missing.headers['ratelimit-policy']).toBe('"polls";q=120000;w=60');
    const nobody = await api.client(null).call('GET', '/api/v2/jobs');
    expect([nobody.status, nobody.headers.ratelimit]).toEqual([401, undefined]);
  });

  it('past the limit are refused with a time to wait, with every key of the account and no other account', async () => {
    await patch({ requests_per_minute: 3 });
    const client = api.client(account.key);
    const answers = [];
    for (let i = 0; i < 8; i += 1) answers.push(await client.call('GET', '/platform/v1/account'));
    const refused = answers.at(-1);
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
    expect(refused?.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(refused?.headers.ratelimit).toMatch(/^"requests";r=0;t=\d+$/);
    const second = await api.key(account.id);
    expect((await api.client(second.key).call('GET', '/platform/v1/account')).status).toBe(429);
    const other = await api.account();
    expect((await api.client(other.key).call('GET', '/platform/v1/account')).status).toBe(200);
    expect((await client.call('GET', `/api/v2/jobs/${newId()}`)).status).toBe(404);
  });
});

describe('an operator', () => {
  it("cancels anybody's job, and the act is recorded with it", async () => {
    const { id } = await api.client(account.key).run(GRAPH);
    expect((await post(`/jobs/${id}/cancel`)).body).toEqual({ id, account_id: account.id, status: 'canceled' });
    expect((await post(`/jobs/${id}/cancel`)).body).toMatchObject({ status: 'canceled' });
    expect(await logged({ subject_id: id })).toMatchObject([
      { action: 'job.cancel', account_id: account.id, details: { found: 'canceled' } },
      { action: 'job.cancel', account_id: account.id, details: { found: 'queued' } },
    ]);
  });

  it('runs an ended job again as a new one of the same account, graph and labels', async () => {
    const { id } = await api.client(account.key).run(GRAPH, { metadata: { user: 'u-1' } });
    expect((await post(`/jobs/${id}/redrive`)).text).toContain('only a job that has ended');
    await post(`/jobs/${id}/cancel`);
    const made = await post<{ id: string }>(`/jobs/${id}/redrive`);
    expect(made).toMatchObject({ status: 201, body: { redriven_from: id, account_id: account.id, status: 'queued' } });
    const job = await api.client(account.key).call<Job>('GET', `/api/v2/jobs/${made.body.id}`);
    expect(job.body).toMatchObject({ status: 'queued', metadata: { user: 'u-1' } });
    expect((await api.client(account.key).job(id)).status).toBe('canceled');
    expect((await logged({ subject_id: id }))[0]).toMatchObject({
      action: 'job.redrive',
      details: { newJobId: made.body.id },
    });
  });

  it.each([
    ['none', 'max=0', null],
    ['one', 'max=1, on=(worker_lost), pause=7', { max: 1, on: ['worker_lost'], pause_seconds: 7 }],
  ])(
    'runs a job again on the retry policy that it was sent with, %s, no matter what its account has set since',
    async (_what, header, policy) => {
      const owner = api.client(account.key);
      const headers = { 'Millrace-Retry': header };
      const { id } = (await owner.submit(JSON.stringify({ workflow: GRAPH }), headers)).body;
      await post(`/jobs/${id}/cancel`);
      await owner.call('PUT', '/platform/v1/account/submission-defaults', {
        json: { retry: { max: 5, on: ['engine_error'], pause_seconds: 30 } },
      });
      const made = await redrive(id, 'k');
      const attempts = await owner.call<JobAttempts>('GET', `/api/v2/jobs/${made.body.id}/attempts`);
      expect(attempts.body.retry).toEqual(policy && { ...policy, used: 0, next_at: null });
    },
  );

  it('runs a job of a network at a demo again for as long as a demo keeps what it makes', async () => {
    const { body: demo } = await api
      .operator()
      .call<{ id: string; path: string; pool: string }>('POST', '/admin/v1/deployments', {
        json: { account_id: account.id, name: 'a demo', demo: true },
      });
    await announceCatalogue(api, demo.pool);
    const times = { readyAt: new Date(), lastSeenAt: new Date(Date.now() + 3_600_000) };
    const worker = { id: newId(), poolId: demo.pool, engine: 'cpu', version: 't', host: 't', pid: 1, ...times };
    await api.test.database.models.worker.create({ data: { ...worker, state: 'ready' } });
    const { id } = await new ApiClient(api.publicUrl + demo.path, null).run(GRAPH);
    await post(`/jobs/${id}/cancel`);
    const made = await redrive(id, 'k');
    const kept = async (jobId: string): Promise<number> => {
      const { createdAt, expiresAt } = await api.test.database.models.job.findUniqueOrThrow({ where: { id: jobId } });
      return expiresAt.getTime() - createdAt.getTime();
    };
    expect(await kept(made.body.id)).toBe(await kept(id));
  });

  it('runs an ended job again once for each Idempotency-Key, also where the same is asked for at once', async () => {
    const [first, second] = [await endedJob('key-1'), await endedJob('key-2')];
    const made = await Promise.all([redrive(first, 'key-1'), redrive(first, 'key-1'), redrive(first, 'key-1')]);
    expect(new Set(made.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    expect(made[0]).toMatchObject({ status: 201, body: { redriven_from: first, account_id: account.id } });
    // Its own key, though the customer and another job have one that reads the same.
    const others = [await redrive(first, 'key-2'), await redrive(second, 'key-1')].map(({ body }) => body.id);
    expect(new Set([made[0]?.body.id, ...others]).size).toBe(3);
    // The outcome stays the same when nothing could be run again any more.
    await patch({ status: 'suspended' });
    expect((await redrive(first, 'key-1')).body.id).toBe(made[0]?.body.id);
    expect(await api.test.database.models.job.count({ where: { accountId: account.id } })).toBe(5);
    expect((await logged({ subject_id: first }))[0]).toMatchObject({
      action: 'job.redrive',
      details: { repeated: true },
    });
  });

  it('answers a repeat with the job that it made, also where the job that was run again has expired meanwhile', async () => {
    const id = await endedJob('key-1');
    const made = await redrive(id, 'k');
    await api.test.database.transaction(async (tx) => {
      await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
      await tx.models.job.update({ where: { id }, data: { deadlineAt: new Date(0), expiresAt: new Date(0) } });
    });
    expect(await redrive(id, 'k')).toMatchObject({ status: 201, body: made.body });
    expect((await logged({ subject_id: id }))[0]).toMatchObject({
      action: 'job.redrive',
      details: { newJobId: made.body.id, repeated: true },
    });
    for (const key of ['another', undefined]) {
      const again = key === undefined ? post(`/jobs/${id}/redrive`) : redrive(id, key);
      expect(await again).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
    }
  });

  it('refuses a key whose job is gone, instead of running it again', async () => {
    const id = await endedJob('key-1');
    await redrive(id, 'k');
    const { idempotencyKey } = api.test.database.models;
    await idempotencyKey.update({
      where: { accountId_operation_key: { accountId: account.id, operation: 'postJobs', key: `redrive\t${id}\tk` } },
      data: { subjectId: newId() },
    });
    expect(await redrive(id, 'k')).toMatchObject({ status: 422, body: { error: { code: 'idempotency_key_reuse' } } });
  });

  it('cannot run a job again whose credentials were kept nowhere, nor one of a suspended account', async () => {
    const secret = { extra_data: { api_key_comfy_org: 'a-credential' } };
    const withSecret = await api.client(account.key).run(GRAPH, secret);
    await post(`/jobs/${withSecret.id}/cancel`);
    expect((await post(`/jobs/${withSecret.id}/redrive`)).text).toContain('credentials for one run');
    const { id } = await api.client(account.key).run(GRAPH);
    await post(`/jobs/${id}/cancel`);
    await patch({ status: 'suspended' });
    expect((await post(`/jobs/${id}/redrive`)).status).toBe(403);
  });

  it('drains a worker, and sees queues and workers', async () => {
    const workerId = newId();
    const worker = { id: workerId, poolId: pool, engine: 'cpu', version: '1', host: 'h', pid: 1, state: 'ready' };
    await api.test.database.models.worker.create({ data: worker });
    expect((await post(`/workers/${workerId}/drain`)).body).toMatchObject({ id: workerId, state: 'draining' });
    const workers = await api.operator().call<object>('GET', `/admin/v1/workers?pool=${pool}`);
    expect(workers.body).toEqual({ workers: [expect.objectContaining({ id: workerId, state: 'draining', pool })] });
    await api.client(account.key).run(GRAPH);
    const queues = await api
      .operator()
      .call<{ queues: { pool: string; waiting: number }[] }>('GET', '/admin/v1/queues');
    expect(queues.body.queues.find((queue) => queue.pool === pool)?.waiting).toBeGreaterThanOrEqual(1);
  });

  it('gets every wrong field in one answer, and sends no more than a small body', async () => {
    const wrong = await patch({ status: 'gone', weight: 0 });
    expect(wrong.status).toBe(422);
    expect(wrong.body).toMatchObject({ error: { details: { fields: [{ field: 'status' }, { field: 'weight' }] } } });
    expect((await patch({ name: 'x'.repeat(70_000) })).status).toBe(413);
    expect((await patch({ name: 'a\u001b[31m' })).status).toBe(422);
    expect((await api.operator().call('PATCH', `/admin/v1/accounts/${account.id}`, { text: '{' })).status).toBe(400);
    expect((await api.operator().call('PUT', `/admin/v1/accounts/${account.id}`, { json: {} })).status).toBe(405);
    expect((await api.operator().call('GET', '/admin/v1/accounts/7')).status).toBe(404);
  });
});

it('a job of an account that is suspended goes on to its end, and nobody sees it until the account is active again', async () => {
  const { id } = await api.client(account.key).run(GRAPH);
  await patch({ status: 'suspended' });
  expect((await api.client(account.key).call('GET', `/api/v2/jobs/${id}`)).status).toBe(403);
  const job = await api.test.database.models.job.findUniqueOrThrow({ where: { id } });
  expect(job.status).toBe('queued');
  await patch({ status: 'active' });
  expect((await api.client(account.key).job(id)).status).toBe('queued');
});
