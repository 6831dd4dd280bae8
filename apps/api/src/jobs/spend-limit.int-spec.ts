import type { Job } from '@millrace/contracts';
import { GRAPH, announceCatalogue } from '../fixtures/own-records';
import { RunningApi } from '../fixtures/running-api';

let api: RunningApi;
beforeAll(async () => {
  api = await RunningApi.open();
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
});
afterAll(() => api.close());

async function submit(limit: string): Promise<{ status: number; body: object; limits: (bigint | null)[] }> {
  const { id, key } = await api.account();
  const headers = { 'Millrace-Spend-Limit-Micros': limit };
  const { status, body } = await api
    .client(key)
    .call<Job>('POST', '/api/v2/jobs', { json: { workflow: GRAPH }, headers });
  const jobs = await api.test.database.models.job.findMany({ where: { accountId: id } });
  return { status, body, limits: jobs.map(({ spendLimitMicros }) => spendLimitMicros) };
}

describe('Millrace-Spend-Limit-Micros', () => {
  it('is kept with the job, which holds no more than that', async () => {
    expect(await submit('600000')).toMatchObject({ status: 201, limits: [600_000n] });
  });

  it('refuses a job that holds more at once, and nothing is recorded', async () => {
    const { status, body, limits } = await submit('599999');
    expect({ status, limits }).toEqual({ status: 422, limits: [] });
    expect(JSON.stringify(body)).toContain('600000 micro-credits (0.6 credits)');
  });

  it.each(['', '-1', '0.5', '1e6', '9'.repeat(16), 'much'])(
    'is a whole number of micro-credits, and not %j',
    async (limit) => {
      const { status, body, limits } = await submit(limit);
      expect({ status, body, limits }).toMatchObject({
        status: 422,
        body: { error: { code: 'invalid_request', details: { fields: [{ field: 'Millrace-Spend-Limit-Micros' }] } } },
        limits: [],
      });
    },
  );
});
