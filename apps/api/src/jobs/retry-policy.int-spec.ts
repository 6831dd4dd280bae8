import { RETRY_CODES, type Job, type JobAttempts, type SubmissionDefaults } from '@millrace/contracts';
import { GRAPH, announceCatalogue } from '../fixtures/own-records';
import { RunningApi } from '../fixtures/running-api';

let api: RunningApi;
beforeAll(async () => {
  api = await RunningApi.open();
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
});
afterAll(() => api.close());

const DEFAULTS = '/platform/v1/account/submission-defaults';
const POLICY = { max: 2, on: ['engine_error', 'worker_lost'], pause_seconds: 30 };
type Client = ReturnType<RunningApi['client']>;

const submit = (client: Client, headers: Record<string, string> = {}): ReturnType<typeof client.call<Job>> =>
  client.call<Job>('POST', '/api/v2/jobs', { json: { workflow: GRAPH }, headers });

async function retryOf(client: Client, headers?: Record<string, string>): Promise<JobAttempts['retry']> {
  const { status, body } = await submit(client, headers);
  expect(status).toBe(201);
  const answer = await client.call<JobAttempts>('GET', `/api/v2/jobs/${body.id}/attempts`);
  return answer.body.retry;
}

async function client(): Promise<Client> {
  return api.client((await api.account()).key);
}

describe('Millrace-Retry', () => {
  it.each([
    ['max=2, on=(engine_error worker_lost), pause=30', POLICY],
    ['pause=30,on=( engine_error  worker_lost ),max=2;why="flaky"', POLICY],
    ['max=2, on=("engine_error" worker_lost), pause=0', { ...POLICY, pause_seconds: 0 }],
    [`max=5, on=(${RETRY_CODES.join(' ')})`, { max: 5, on: [...RETRY_CODES], pause_seconds: 10 }],
  ])('is read: %s', async (header, policy) => {
    expect(await retryOf(await client(), { 'Millrace-Retry': header })).toEqual({ ...policy, used: 0, next_at: null });
  });

  it.each([
    ['no dictionary', 'max=2, on=(engine_error'],
    ['no number', 'max=many, on=(engine_error)'],
    ['too many', 'max=6, on=(engine_error)'],
    ['fewer than none', 'max=-1, on=(engine_error)'],
    ['no codes', 'max=2'],
    ['an empty list', 'max=2, on=()'],
    ['one code outside a list', 'max=2, on=engine_error'],
    ['a code that makes no sense', 'max=2, on=(credits_exhausted)'],
    ['an unknown code', 'max=2, on=(oom)'],
    ['a pause too long', 'max=2, on=(engine_error), pause=601'],
    ['a pause in parts of seconds', 'max=2, on=(engine_error), pause=0.5'],
    ['an unknown key', 'max=2, on=(engine_error), backoff=2'],
    ['nothing', ''],
  ])('is refused with %s', async (_what, header) => {
    const { status, body } = await submit(await client(), { 'Millrace-Retry': header });
    expect({ status, body }).toMatchObject({
      status: 422,
      body: { error: { code: 'invalid_request', details: { fields: [{ field: 'Millrace-Retry' }] } } },
    });
  });

  it('that differs does not make a used key free', async () => {
    const caller = await client();
    const key = { 'Idempotency-Key': 'one' };
    expect((await submit(caller, key)).status).toBe(201);
    const again = await submit(caller, { ...key, 'Millrace-Retry': 'max=1, on=(engine_error)' });
    expect(again).toMatchObject({ status: 422, body: { error: { code: 'idempotency_key_reuse' } } });
  });

  it('of a batch is that of its jobs, and part of what its key names', async () => {
    const caller = await client();
    const batch = (retry: string): ReturnType<typeof caller.call<{ id: string }>> =>
      caller.call<{ id: string }>('POST', '/api/v2/batches', {
        json: { jobs: [{ workflow: GRAPH }] },
        headers: { 'Idempotency-Key': 'a-batch', 'Millrace-Retry': retry },
      });
    const { status, body } = await batch('max=2, on=(engine_error worker_lost), pause=30');
    expect(status).toBe(201);
    const { body: page } = await caller.call<{ jobs: { id: string }[] }>('GET', `/api/v2/batches/${body.id}/jobs`);
    const answer = await caller.call<JobAttempts>('GET', `/api/v2/jobs/${page.jobs[0]?.id}/attempts`);
    expect(answer.body.retry).toMatchObject(POLICY);
    expect((await batch('max=2, on=(worker_lost engine_error), pause=30')).status).toBe(422);
    expect(await batch('max=2, on=(engine_error worker_lost), pause=30')).toMatchObject({
      status: 200,
      body: { id: body.id },
    });
  });

  it('is no field of the body: there it is ignored like any other', async () => {
    const caller = await client();
    const { body } = await caller.call<Job>('POST', '/api/v2/jobs', { json: { workflow: GRAPH, retry: POLICY } });
    const answer = await caller.call<JobAttempts>('GET', `/api/v2/jobs/${body.id}/attempts`);
    expect(answer.body).toEqual({ attempts: [], retry: null });
  });
});

describe('the defaults of an account', () => {
  it('apply to submissions that say nothing, of this account alone, and a header goes before them', async () => {
    const caller = await client();
    expect((await caller.call<SubmissionDefaults>('GET', DEFAULTS)).body).toEqual({ retry: null, reuse: null });
    expect((await caller.call('PUT', DEFAULTS, { json: { retry: POLICY } })).status).toBe(200);
    expect(await retryOf(caller)).toMatchObject(POLICY);
    expect(await retryOf(caller, { 'Millrace-Retry': 'max=1, on=(worker_lost)' })).toMatchObject({ max: 1 });
    expect(await retryOf(caller, { 'Millrace-Retry': 'max=0' })).toBeNull();
    expect(await retryOf(await client())).toBeNull();
    await caller.call('PUT', DEFAULTS, { json: { retry: null } });
    expect(await retryOf(caller)).toBeNull();
  });

  it.each([
    { retry: { ...POLICY, max: 6 } },
    { retry: { ...POLICY, on: ['execution_timeout'] } },
    { retry: { ...POLICY, pause: 3 } },
    { retry: null, unknown: 1 },
    {},
  ])('are refused: %j', async (json) => {
    expect((await (await client()).call('PUT', DEFAULTS, { json })).status).toBe(422);
  });
});
