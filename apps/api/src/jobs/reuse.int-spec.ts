import type { Estimate, Job, SubmissionDefaults } from '@millrace/contracts';
import { GRAPH, announceCatalogue } from '../fixtures/own-records';
import { RunningApi } from '../fixtures/running-api';

let api: RunningApi;
beforeAll(async () => {
  api = await RunningApi.open();
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
});
afterAll(() => api.close());

const DEFAULTS = '/platform/v1/account/submission-defaults';
const EXACT = { 'Millrace-Reuse': 'exact' };
/** The catalogue of the fixtures declares nothing: no graph of it is reused. */
const UNDECLARED = /^run;reason="Not declared to be deterministic: [\w, ]+\."$/;
type Client = ReturnType<RunningApi['client']>;

async function client(): Promise<Client> {
  return api.client((await api.account()).key);
}

const submit = (caller: Client, headers: Record<string, string> = {}): ReturnType<typeof caller.call<Job>> =>
  caller.call<Job>('POST', '/api/v2/jobs', { json: { workflow: GRAPH }, headers });

async function answerOf(caller: Client, headers: Record<string, string> = {}): Promise<string | undefined> {
  const answer = await submit(caller, headers);
  expect(answer.status).toBe(201);
  expect(answer.body.reused_from).toBeUndefined();
  return answer.headers['millrace-reuse'];
}

describe('Millrace-Reuse', () => {
  it('says why a job runs whose nodes are not declared to be deterministic', async () => {
    expect(await answerOf(await client(), EXACT)).toMatch(UNDECLARED);
  });

  it('that is not there asks for nothing', async () => {
    expect(await answerOf(await client())).toBeUndefined();
  });

  it.each(['', 'yes', 'Exact', 'exact, exact'])('is refused as %j', async (value) => {
    const { status, body } = await submit(await client(), { 'Millrace-Reuse': value });
    expect({ status, body }).toMatchObject({
      status: 422,
      body: { error: { code: 'invalid_request', details: { fields: [{ field: 'Millrace-Reuse' }] } } },
    });
  });

  it('is refused for a batch', async () => {
    const { status, body } = await (
      await client()
    ).call<unknown>('POST', '/api/v2/batches', {
      json: { jobs: [{ workflow: GRAPH }] },
      headers: EXACT,
    });
    expect({ status, body }).toMatchObject({
      status: 422,
      body: { error: { code: 'invalid_request', details: { fields: [{ field: 'Millrace-Reuse' }] } } },
    });
  });

  it('is a default of the account, which a header goes before', async () => {
    const caller = await client();
    const set = (json: object): ReturnType<typeof caller.call<SubmissionDefaults>> =>
      caller.call<SubmissionDefaults>('PUT', DEFAULTS, { json });
    expect((await set({ retry: null, reuse: 'exact' })).body).toEqual({ retry: null, reuse: 'exact' });
    expect(await answerOf(caller)).toMatch(UNDECLARED);
    expect(await answerOf(caller, { 'Millrace-Reuse': 'off' })).toBeUndefined();
    expect((await set({ retry: null })).body).toEqual({ retry: null, reuse: null });
    expect(await answerOf(caller)).toBeUndefined();
    expect(await set({ retry: null, reuse: 'close' })).toMatchObject({ status: 422 });
  });

  it('of an estimate says the same', async () => {
    const caller = await client();
    const estimate = (headers: Record<string, string>): ReturnType<typeof caller.call<Estimate>> =>
      caller.call<Estimate>('POST', '/platform/v1/estimates', { json: { workflow: GRAPH }, headers });
    const { body } = await estimate(EXACT);
    expect(body.reuse?.job_id).toBeNull();
    expect(body.reuse?.reason).toMatch(/^Not declared to be deterministic/);
    expect(body.hold_micros).toBeGreaterThan(0);
    expect((await estimate({})).body.reuse).toBeNull();
  });

  it('of a submission with credentials runs it', async () => {
    const caller = await client();
    const { status, headers } = await caller.call<Job>('POST', '/api/v2/jobs', {
      json: { workflow: GRAPH, extra_data: { api_key_comfy_org: 'secret' } },
      headers: EXACT,
    });
    expect([status, headers['millrace-reuse']]).toEqual([
      201,
      expect.stringMatching(/^run;reason="The submission has credentials/),
    ]);
  });
});
