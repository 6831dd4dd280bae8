import { newId, type JobStanding } from '@millrace/contracts';
import { GRAPH, announceCatalogue } from '../fixtures/own-records';
import { RunningApi } from '../fixtures/running-api';
import { makeSubKey } from '../fixtures/sub-keys';

let api: RunningApi;
let poolId: string;
beforeAll(async () => {
  api = await RunningApi.open();
  poolId = api.env.MILLRACE_POOL ?? '';
  await announceCatalogue(api, poolId);
});
afterAll(() => api.close());

const asks = (client: ReturnType<RunningApi['client']>, id: string): Promise<{ status: number; body: JobStanding }> =>
  client.call<JobStanding>('GET', `/platform/v1/jobs/${id}`);

describe('GET /platform/v1/jobs/{id}', () => {
  it('says why a job waits, and to a sub-key nothing of what is wrong with workers', async () => {
    const account = await api.account();
    const ada = await makeSubKey(api, account, { user: 'ada' });
    const { id } = await ada.client.run(GRAPH);
    const owner = api.client(account.key);
    expect(await asks(owner, id)).toMatchObject({
      status: 200,
      body: { id, status: 'queued', waiting_reason: { code: 'no_workers', message: 'No worker is there to run it.' } },
    });
    const worker = { id: newId(), poolId, engine: 'cpu', version: 'test', host: 'a host', pid: 1, problem: 'no GPU' };
    await api.test.database.models.worker.create({ data: worker });
    const message = 'No worker is ready yet: no GPU.';
    expect((await asks(owner, id)).body.waiting_reason).toEqual({ code: 'workers_starting', message });
    expect((await asks(ada.client, id)).body.waiting_reason?.message).toBe('No worker is ready yet.');
  });

  it('waits for nothing once it is canceled, and is not found by others', async () => {
    const account = await api.account();
    const owner = api.client(account.key);
    const { id } = await owner.run(GRAPH);
    await owner.call('POST', `/api/v2/jobs/${id}/cancel`);
    expect((await asks(owner, id)).body).toEqual({ id, status: 'canceled', waiting_reason: null });
    const other = await makeSubKey(api, account, { user: 'bob' });
    for (const client of [api.client((await api.account()).key), other.client]) {
      expect((await asks(client, id)).status).toBe(404);
    }
    expect((await asks(owner, 'no-id')).status).toBe(404);
  });
});
