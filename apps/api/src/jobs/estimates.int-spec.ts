import type { Estimate } from '@millrace/contracts';
import { GRAPH, announceCatalogue } from '../fixtures/own-records';
import { RunningApi } from '../fixtures/running-api';

let api: RunningApi;
beforeAll(async () => {
  api = await RunningApi.open();
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
});
afterAll(() => api.close());

const PATH = '/platform/v1/estimates';

describe('POST /platform/v1/estimates', () => {
  it('answers with what a submission would come to, and submits nothing', async () => {
    const { key } = await api.account();
    const client = api.client(key);
    const workflow = { '1': { class_type: 'EmptyImage', inputs: {} }, '2': { class_type: 'Unheard', inputs: {} } };
    const { status, body } = await client.call<Estimate>('POST', PATH, { json: { workflow } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ accepted: false, error: { code: 'invalid_workflow' }, known_runs: 0, run_ms: null });
    expect(body.error?.details).toHaveProperty('node_errors.2');
    expect((await client.call<{ jobs: unknown[] }>('GET', '/api/v2/jobs')).body.jobs).toEqual([]);
  });

  it('names the price, the hold and the place where it would be accepted', async () => {
    const { key } = await api.account();
    const { body } = await api.client(key).call<Estimate>('POST', PATH, { json: { workflow: GRAPH } });
    expect(body).toMatchObject({ accepted: true, error: null, run_ms: null, cost_micros: null, queue_position: 1 });
    expect(body.hold_micros).toBeGreaterThan(body.price_micros_per_second ?? 0);
  });

  it('is refused by a spend limit as the submission would be', async () => {
    const { key } = await api.account();
    const ask = (limit: string): Promise<{ status: number; body: Estimate }> =>
      api.client(key).call<Estimate>('POST', PATH, {
        json: { workflow: GRAPH },
        headers: { 'Millrace-Spend-Limit-Micros': limit },
      });
    expect((await ask('600000')).body).toMatchObject({ accepted: true, error: null });
    const { body } = await ask('599999');
    expect(body).toMatchObject({
      accepted: false,
      hold_micros: 600_000,
      error: { code: 'invalid_request', details: { fields: [{ field: 'Millrace-Spend-Limit-Micros' }] } },
    });
    expect((await ask('much')).status).toBe(422);
  });

  it('says of a body that is no submission what a submission would be answered', async () => {
    const { key } = await api.account();
    const { status, body } = await api.client(key).call<Estimate>('POST', PATH, { json: { graph: {} } });
    expect(status).toBe(200);
    expect(body.error).toMatchObject({ code: 'invalid_request' });
  });
});
