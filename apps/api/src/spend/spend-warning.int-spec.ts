import { onOneDay, type Answer, type ApiClient } from '@millrace/testing';
import { GRAPH, announceCatalogue } from '../fixtures/own-records';
import { RunningApi } from '../fixtures/running-api';

/** What a job of the test holds. */
const HOLD_MICROS = 600_000;

let api: RunningApi;
let owner: ApiClient;
beforeAll(async () => {
  api = await RunningApi.open();
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
});
beforeEach(() => onOneDay());
beforeEach(async () => {
  owner = api.client((await api.account({ limits: { queue_limit: 1_000 } })).key);
});
afterAll(() => api.close());

const warningOf = ({ status, headers }: Answer<unknown>): unknown => [status, headers['millrace-spend-warning']];
const submit = async (client: ApiClient, metadata?: object): Promise<unknown> =>
  warningOf(await client.call('POST', '/api/v2/jobs', { json: { workflow: GRAPH, metadata } }));
const submitBatch = (
  client: ApiClient,
  jobs: object[],
  headers: Record<string, string> = {},
): Promise<Answer<unknown>> =>
  client.call('POST', '/api/v2/batches', { json: { jobs: jobs.map((job) => ({ workflow: GRAPH, ...job })) }, headers });

async function put(path: string, json: object): Promise<void> {
  expect((await owner.call('PUT', path, { json })).status).toBe(200);
}

describe('Millrace-Spend-Warning', () => {
  it('says in the answer of a job how much of a cap is used, once half of it is', async () => {
    await put('/platform/v1/spend/caps', { scope: 'account', daily_micros: HOLD_MICROS * 3 });
    expect(await submit(owner)).toEqual([201, undefined]);
    expect(await submit(owner)).toEqual([201, 'account;day=50']);
    expect(await submit(owner)).toEqual([201, 'account;day=100']);
  });

  it('says it of a batch with all its jobs, and not again for a repeat', async () => {
    await put('/platform/v1/spend/caps', { scope: 'account', monthly_micros: HOLD_MICROS * 5 });
    const headers = { 'Idempotency-Key': 'a' };
    expect(warningOf(await submitBatch(owner, [{}, {}, {}, {}], headers))).toEqual([201, 'account;month=80']);
    expect(warningOf(await submitBatch(owner, [{}, {}, {}, {}], headers))).toEqual([200, undefined]);
  });

  it('says of a batch the most that any value of a label came to', async () => {
    await put('/platform/v1/label-rules', { label: 'user', daily_micros: HOLD_MICROS * 2 });
    const users = ['ada', 'bob', 'bob'].map((name) => ({ metadata: { user: name } }));
    expect(warningOf(await submitBatch(owner, users))).toEqual([201, 'label;name="user";day=100']);
  });

  it('keeps from the holder of a sub-key how much its account uses', async () => {
    await put('/platform/v1/spend/caps', { scope: 'account', daily_micros: HOLD_MICROS * 2 });
    await put('/platform/v1/label-rules', { label: 'user', daily_micros: HOLD_MICROS * 4 });
    const labels = { name: 'ada', labels: { user: 'ada' } };
    const { body } = await owner.call<{ key: string }>('POST', '/platform/v1/api-keys', { json: labels });
    const ada = api.client(body.key);
    expect(warningOf(await submitBatch(ada, [{}]))).toEqual([201, undefined]);
    expect(await submit(ada)).toEqual([201, 'label;name="user";day=50']);
  });
});
