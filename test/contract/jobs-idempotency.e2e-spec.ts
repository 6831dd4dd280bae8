import { newId, type Job } from '@millrace/contracts';
import { ApiClient, TestStack, type Answer, type TestAccount } from '@millrace/testing';
import { CutProxy } from './support/cut-proxy';

let stack: TestStack;
let account: TestAccount;
let client: ApiClient;
let proxy: CutProxy;
/** A client of an API process that reaches PostgreSQL through the proxy. */
let cutOff: ApiClient;
beforeAll(async () => {
  stack = await TestStack.start();
  await stack.workers[0]?.end();
  account = await stack.createAccount(10_000_000_000, { queue_limit: 10_000 });
  client = new ApiClient(stack.publicUrl, account.apiKey);
  const url = new URL(stack.test.url);
  proxy = await CutProxy.start({ host: url.hostname, port: Number(url.port) });
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  const api = await stack.spawn('api', { DATABASE_URL: url.href });
  cutOff = new ApiClient(api.publicUrl, account.apiKey);
});
afterAll(async () => {
  await stack.stop();
  await proxy.stop();
});

const WORKFLOW = {
  '1': { class_type: 'PrimitiveInt', inputs: { value: 7 } },
  '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
};
const BODY = JSON.stringify({ workflow: WORKFLOW });

/** Submit under a key, with a label by which its jobs are found again. */
const submit = (key: string, who = client, text = BODY): Promise<Answer<Job>> =>
  who.submit(text, { 'Idempotency-Key': key });
const outcome = ({ status, body }: Answer<Job>): string =>
  status === 201 ? '201' : `${status} ${(body as unknown as { error: { code: string } }).error.code}`;

const claimsOf = (key: string): Promise<{ subjectId: string; createdAt: Date; expiresAt: Date }[]> =>
  stack.test.database.models.idempotencyKey.findMany({ where: { key } });
const jobsOf = (who = account): Promise<number> =>
  stack.test.database.models.job.count({ where: { accountId: who.id } });

describe('an Idempotency-Key', () => {
  it('rule 1: of a first request lets it through as any other', async () => {
    const key = newId();
    const { status, body } = await submit(key);
    expect(status).toBe(201);
    expect((await claimsOf(key)).map((claim) => claim.subjectId)).toEqual([body.id]);
  });

  it('rule 2: of an earlier request refuses every later one, with another body too, and executes nothing', async () => {
    const key = newId();
    expect(outcome(await submit(key))).toBe('201');
    const before = await jobsOf();
    const others = [BODY, '{"workflow":{}}', '{"workflow":{"nodes":[],"links":[]}}', '{}', '{', '{"webhook_url":1}'];
    for (const text of others) expect(outcome(await submit(key, client, text))).toBe('422 idempotency_key_reuse');
    // Also where the request would be refused before its body is read.
    const wrong: Record<string, string>[] = [{ 'Millrace-Retry': 'bogus' }, { 'Content-Type': 'text/plain' }];
    for (const headers of wrong)
      expect(outcome(await client.submit(BODY, { 'Idempotency-Key': key, ...headers }))).toBe(
        '422 idempotency_key_reuse',
      );
    expect(await jobsOf()).toBe(before);
  });

  it('rule 2: of 20 requests at once lets exactly one through', async () => {
    const key = newId();
    const before = await jobsOf();
    const outcomes = await Promise.all(Array.from({ length: 20 }, async () => outcome(await submit(key))));
    expect(outcomes.sort()).toEqual(['201', ...Array<string>(19).fill('422 idempotency_key_reuse')]);
    expect(await jobsOf()).toBe(before + 1);
  });

  it.each([
    ['422 invalid_request', '{"workflow":{},"webhook_url":null}'],
    ['400 invalid_request', '{"workflow":'],
    ['422 workflow_format_ui', '{"workflow":{"nodes":[],"links":[]}}'],
    ['422 invalid_workflow', '{"workflow":{"1":{"class_type":"None","inputs":{}}}}'],
    ['422 metadata_invalid', `{"workflow":${JSON.stringify(WORKFLOW)},"metadata":{"a":1}}`],
    [
      '422 missing_asset',
      `{"workflow":{"1":{"class_type":"PreviewAny","inputs":{"source":{"__type":"core/ASSET","info":{"id":"${newId()}"}}}}}}`,
    ],
  ])('rules 3 and 4: is not claimed by a request that ends with %s', async (refusal, text) => {
    const key = newId();
    expect(outcome(await submit(key, client, text))).toBe(refusal);
    expect(await claimsOf(key)).toEqual([]);
    expect(outcome(await submit(key))).toBe('201');
  });

  it('rule 4: is released when the credits or the room in the queue are lacking', async () => {
    const poor = await stack.createAccount(0, { queue_limit: 1 });
    const own = new ApiClient(stack.publicUrl, poor.apiKey);
    const key = newId();
    expect(outcome(await submit(key, own))).toBe('402 insufficient_credits');
    await stack.admin('POST', `/accounts/${poor.id}/credits`, { amount_micros: 1_000_000_000, reason: 'to go on' });
    expect(outcome(await submit(key, own))).toBe('201');
    const next = newId();
    expect(outcome(await submit(next, own))).toBe('429 queue_full');
    expect(await claimsOf(next)).toEqual([]);
    const [{ id } = { id: '' }] = (await own.call<{ jobs: Job[] }>('GET', '/api/v2/jobs')).body.jobs;
    await own.call('POST', `/api/v2/jobs/${id}/cancel`);
    expect(outcome(await submit(next, own))).toBe('201');
  });

  it('rule 5: stays claimed when the connection broke after the commit, and the job is found in the list', async () => {
    const key = newId();
    const before = await jobsOf();
    const cut = proxy.cutOnce(key, 'after the reply');
    const [first] = await Promise.all([submit(key, cutOff), cut]);
    expect(outcome(first)).toBe('500 upstream_error');
    expect(await jobsOf()).toBe(before + 1);
    for (const who of [cutOff, client]) expect(outcome(await submit(key, who))).toBe('422 idempotency_key_reuse');
    const [claim] = await claimsOf(key);
    const { body } = await client.call<{ jobs: Job[] }>('GET', '/api/v2/jobs?limit=1');
    expect(body.jobs.map((job) => [job.id, job.status])).toEqual([[claim?.subjectId, 'queued']]);
  });

  it('rule 5: is free when the connection broke before anything was recorded: there is no job to be found', async () => {
    const key = newId();
    const before = await jobsOf();
    const cut = proxy.cutOnce(key, 'before the request');
    const [first] = await Promise.all([submit(key, cutOff), cut]);
    expect(outcome(first)).toBe('500 upstream_error');
    expect([await jobsOf(), await claimsOf(key)]).toEqual([before, []]);
    expect(outcome(await submit(key))).toBe('201');
  });

  it('rule 6: expires after 24 hours, and is then as good as new', async () => {
    const key = newId();
    await submit(key);
    const [claim] = await claimsOf(key);
    expect(Number(claim?.expiresAt) - Number(claim?.createdAt)).toBe(86_400_000);
    await stack.test.database.models.idempotencyKey.updateMany({ where: { key }, data: { expiresAt: new Date() } });
    expect(outcome(await submit(key))).toBe('201');
    expect(outcome(await submit(key))).toBe('422 idempotency_key_reuse');
  });

  it('rule 7: is answered by no replay: no answer carries Idempotency-Replayed', async () => {
    const key = newId();
    for (const answer of [await submit(key), await submit(key)]) {
      expect(Object.keys(answer.headers)).not.toContain('idempotency-replayed');
    }
  });

  it('belongs to one account and one operation', async () => {
    const key = newId();
    const other = await stack.createAccount();
    expect(outcome(await submit(key))).toBe('201');
    expect(outcome(await submit(key, new ApiClient(stack.publicUrl, other.apiKey)))).toBe('201');
    const file = { content_type: 'text/plain', file_path: 'a.txt' };
    const upload = await client.upload(Buffer.from(key), file, { 'Idempotency-Key': key });
    expect(upload.status).toBe(201);
  });

  it('is not needed: requests without one are all executed', async () => {
    const before = await jobsOf();
    for (let nth = 0; nth < 3; nth += 1) expect((await client.submit(BODY)).status).toBe(201);
    expect(await jobsOf()).toBe(before + 3);
  });

  it.each(['k', 'k'.repeat(255), '!~"\\{}', '0', 'a,b', 'with space', 'a, b'])(
    'may be 1 to 255 printable ASCII characters: %#',
    async (key) => {
      expect(outcome(await submit(key))).toBe('201');
      expect(outcome(await submit(key))).toBe('422 idempotency_key_reuse');
    },
  );

  it.each(['', 'k'.repeat(256), 'größe', 'tab\there'])(
    'of another form is refused with a sentence that says which: %#',
    async (key) => {
      const answer = await submit(key);
      expect(answer.status).toBe(422);
      expect(answer.body).toEqual({
        error: {
          code: 'invalid_request',
          message: expect.stringContaining('Idempotency-Key') as string,
          details: {
            fields: [
              {
                field: 'Idempotency-Key',
                reason: 'must be one key of 1 to 255 printable ASCII characters, e.g. a UUID',
              },
            ],
          },
        },
      });
    },
  );
});
