import { newId } from '@millrace/contracts';
import { failJob, giveJob } from '../fixtures/job-ends';
import { announceCatalogue, makeRecords, GRAPH, type OwnRecords } from '../fixtures/own-records';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

let api: RunningApi;
let account: TestAccount;
let records: OwnRecords;
let pool: string;
beforeAll(async () => {
  api = await RunningApi.open();
  pool = api.env.MILLRACE_POOL ?? '';
  await announceCatalogue(api, pool);
  account = await api.account();
  records = await makeRecords(api, account);
});
afterAll(() => api.close());

const read = async <T>(path: string): Promise<T> => (await api.operator().call<T>('GET', `/admin/v1${path}`)).body;
const post = (path: string) => api.operator().call<object>('POST', `/admin/v1${path}`);

async function worker(state = 'ready'): Promise<string> {
  const id = newId();
  const stoppedAt = state === 'stopped' ? new Date() : null;
  const facts = { poolId: pool, engine: 'cpu', version: '1', host: 'a', pid: 1, state, stoppedAt };
  await api.test.database.models.worker.create({ data: { id, ...facts } });
  return id;
}

const give = (jobId: string, workerId: string): Promise<void> => giveJob(api, jobId, workerId);
const fail = (jobId: string, workerId: string): Promise<void> => failJob(api, jobId, workerId);

describe('an operator reads', () => {
  it('a job of any account across its attempts', async () => {
    const { id } = await api.client(account.key).run(GRAPH);
    const workerId = await worker();
    await fail(id, workerId);
    const job = await read<object>(`/jobs/${id}`);
    expect(job).toMatchObject({
      id,
      account_id: account.id,
      pool,
      status: 'failed',
      delivery: 'done',
      error: { code: 'node_execution_error', node_id: '1' },
      attempts: [{ number: 1, worker_id: workerId, outcome: 'failed', engine_ms: null }],
      transitions: [{ seq: 1, from: null, to: 'queued', attempt: 0, worker_id: null }],
    });
    expect((await api.operator().call('GET', `/admin/v1/jobs/${newId()}`)).status).toBe(404);
    expect((await api.operator().call('GET', '/admin/v1/jobs/x')).status).toBe(404);
  });

  it('the jobs that failed, the latest submitted first, in pages', async () => {
    const failed = [];
    for (let i = 0; i < 3; i += 1) failed.push((await api.client(account.key).run(GRAPH)).id);
    for (const id of failed) await fail(id, newId());
    const first = await read<{ failures: { id: string }[]; next_cursor: string }>('/failures?limit=2');
    const second = await read<{ failures: { id: string }[] }>(`/failures?limit=1&cursor=${first.next_cursor}`);
    expect([...first.failures, ...second.failures].map(({ id }) => id)).toEqual(failed.reverse());
    expect((await api.operator().call('GET', '/admin/v1/failures?cursor=x')).status).toBe(400);
  });

  it('what each worker runs now', async () => {
    const id = await worker();
    const { id: jobId } = await api.client(account.key).run(GRAPH);
    await give(jobId, id);
    const { workers } = await read<{ workers: { id: string; running_jobs: string[] }[] }>(`/workers?pool=${pool}`);
    expect(workers.find((seen) => seen.id === id)).toMatchObject({ running_jobs: [jobId] });
    expect(workers.filter((seen) => seen.running_jobs.length > 0)).toHaveLength(1);
  });

  it('the pools and what they belong to', async () => {
    const { pools } = await read<{ pools: { id: string }[] }>('/pools');
    expect(pools.find(({ id }) => id === pool)).toMatchObject({ deployment_id: null, engine: 'cpu', node_count: 2 });
    const own = pools.find(({ id }) => id === records.deploymentId);
    expect(own).toMatchObject({ deployment_id: records.deploymentId });
  });

  it('the deployments of all accounts, in pages', async () => {
    const other = await makeRecords(api, await api.account());
    const first = await read<{ deployments: { id: string }[]; next_cursor: string }>('/deployments?limit=1');
    expect(first.deployments).toMatchObject([{ id: other.deploymentId, pool: other.deploymentId }]);
    const second = await read<{ deployments: object[] }>(`/deployments?cursor=${first.next_cursor}`);
    expect(second.deployments).toMatchObject([{ id: records.deploymentId, account_id: account.id }]);
  });

  it('accounts by a part of their name, and the balance of one', async () => {
    const json = { name: '100% Ünïque_name' };
    const { id } = (await api.operator().call<{ id: string }>('POST', '/admin/v1/accounts', { json })).body;
    const found = async (name: string) =>
      (await read<{ accounts: { id: string }[] }>(`/accounts?name=${encodeURIComponent(name)}`)).accounts.map(
        (seen) => seen.id,
      );
    expect(await found('ÜNÏQUE_')).toEqual([id]);
    expect(await found('0%')).toEqual([id]);
    expect(await found('Unique%name')).toEqual([]);
    expect(await read(`/accounts/${id}/credits`)).toEqual({ available_micros: 0, held_micros: 0 });
    expect((await api.operator().call('GET', `/admin/v1/accounts/${newId()}/credits`)).status).toBe(404);
  });

  it('when the invariants were last checked, and what was found', async () => {
    const audit = await read<{ ok: boolean; audits: string[]; findings: object[] }>('/audit');
    const { entries } = await read<{ entries: { details: object }[] }>('/audit-log?subject_id=invariants&limit=1');
    expect(entries).toMatchObject([
      { action: 'audit.run', actor: 'admin', details: { ok: audit.ok, findings: audit.findings.length } },
    ]);
  });
});

it('the drain of a worker is undone, and of a stopped one it is not', async () => {
  const id = await worker();
  expect((await post(`/workers/${id}/drain`)).body).toMatchObject({ state: 'draining' });
  expect((await post(`/workers/${id}/undrain`)).body).toMatchObject({ state: 'starting' });
  expect((await post(`/workers/${id}/undrain`)).body).toMatchObject({ state: 'starting' });
  const { entries } = await read<{ entries: { action: string }[] }>(`/audit-log?subject_id=${id}`);
  expect(entries.map(({ action }) => action)).toEqual(['worker.undrain', 'worker.undrain', 'worker.drain']);
  expect((await post(`/workers/${await worker('stopped')}/undrain`)).status).toBe(404);
});
