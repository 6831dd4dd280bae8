import { SCOPES, type Asset, type ErrorEnvelope, type Job, type JobPage } from '@millrace/contracts';
import { GRAPH, announceCatalogue } from '../fixtures/own-records';
import { RunningApi, type TestAccount } from '../fixtures/running-api';
import { makeSubKey, type SubKey } from '../fixtures/sub-keys';

const KEYS = '/platform/v1/api-keys';

let api: RunningApi;
let account: TestAccount;
let ada: SubKey;
let bob: SubKey;
beforeAll(async () => {
  api = await RunningApi.open();
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
});
beforeEach(async () => {
  account = await api.account();
  ada = await makeSubKey(api, account, { user: 'ada' });
  bob = await makeSubKey(api, account, { user: 'bob' });
});
afterAll(() => api.close());

const owner = (): ReturnType<RunningApi['client']> => api.client(account.key);
const jobsOf = async ({ client }: SubKey, query = ''): Promise<string[]> =>
  (await client.call<JobPage>('GET', `/api/v2/jobs${query}`)).body.jobs.map(({ id }) => id);
const fieldsOf = (body: unknown): unknown => (body as ErrorEnvelope).error.details;

describe('making a sub-key', () => {
  it('shows its labels, and that it can do with jobs, assets and usage what its maker can', async () => {
    const made = await owner().call('POST', KEYS, { json: { name: 'ada', labels: { user: 'ada', team: 'x' } } });
    expect(made).toMatchObject({
      status: 201,
      body: {
        labels: { user: 'ada', team: 'x' },
        scopes: ['jobs:read', 'jobs:write', 'assets:read', 'assets:write', 'usage:read'],
        parent_id: account.keyId,
      },
    });
    const { body } = await owner().call<{ api_keys: object[] }>('GET', KEYS);
    expect(body.api_keys).toContainEqual(expect.objectContaining({ id: ada.id, labels: { user: 'ada' } }));
    expect(body.api_keys).toContainEqual(expect.objectContaining({ id: account.keyId, labels: null }));
  });

  it('grants no scope that its maker lacks, and none that concerns the account', async () => {
    const { key } = await api.key(account.id, ['keys:admin', 'jobs:read']);
    const narrow = await api.client(key).call('POST', KEYS, { json: { name: 'a', labels: { user: 'a' } } });
    expect(narrow).toMatchObject({ status: 201, body: { scopes: ['jobs:read'] } });
    const beyond = { name: 'a', labels: { user: 'a' }, scopes: ['jobs:write'] };
    expect((await api.client(key).call('POST', KEYS, { json: beyond })).status).toBe(403);
    for (const scope of ['keys:admin', 'webhooks:write', 'credits:write', 'deployments:write'] as const) {
      const json = { name: 'a', labels: { user: 'a' }, scopes: [scope] };
      const refused = await owner().call('POST', KEYS, { json });
      expect(refused.status).toBe(422);
      expect(fieldsOf(refused.body)).toMatchObject({ fields: [{ field: 'scopes' }] });
    }
  });

  it.each([
    [{}, 'labels'],
    [{ a: '1', b: '2', c: '3', d: '4', e: '5' }, 'labels'],
    [{ 'not a key': 'x' }, 'labels.not a key'],
    [{ user: 'x'.repeat(257) }, 'labels.user'],
    [{ user: '\u202eada' }, 'labels.user'],
  ])('refuses the labels %j and names the field', async (labels, field) => {
    const refused = await owner().call('POST', KEYS, { json: { name: 'a', labels } });
    expect(refused.status).toBe(422);
    expect(fieldsOf(refused.body)).toMatchObject({ fields: [{ field }] });
  });

  it('is listed by label, also when it has ended; keys without labels are not', async () => {
    const both = await makeSubKey(api, account, { user: 'ada', team: 'x' });
    const named = async (query: string): Promise<string[]> => {
      const { body } = await owner().call<{ api_keys: { id: string }[] }>('GET', `${KEYS}?${query}`);
      return body.api_keys.map(({ id }) => id);
    };
    await owner().call('DELETE', `${KEYS}/${ada.id}`);
    expect(await named('labels[user]=ada')).toEqual([both.id, ada.id]);
    expect(await named('labels%5Buser%5D=ada&labels[team]=x')).toEqual([both.id]);
    expect(await named('labels[user]=nobody')).toEqual([]);
    const other = await api.account();
    await makeSubKey(api, other, { user: 'ada' });
    expect(await named('labels[user]=ada')).toEqual([both.id, ada.id]);
  });

  it.each([
    ['labels=user', 'labels'],
    ['labels[]=ada', 'labels[]'],
    ['labels[user', 'labels[user'],
    ['labels[no key]=ada', 'labels[no key]'],
    ['labels[user]=ada&labels[user]=bob', 'labels[user]'],
    [`labels[user]=${'x'.repeat(257)}`, 'labels[user]'],
    ['labels[a]=1&labels[b]=2&labels[c]=3&labels[d]=4&labels[e]=5', 'labels'],
  ])('is not listed by %s: the parameter is named, and how to write it', async (query, field) => {
    const refused = await owner().call('GET', `${KEYS}?${query}`);
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } });
    expect(fieldsOf(refused.body)).toMatchObject({
      fields: [{ field, reason: expect.stringContaining('use labels[key]=value') as string }],
    });
  });

  it('lasts through a rotation, and ends with its maker', async () => {
    const { body } = await owner().call<{ key: string }>('POST', `${KEYS}/${ada.id}/rotate`, { json: {} });
    expect(body).toMatchObject({ labels: { user: 'ada' } });
    const job = await ada.client.run(GRAPH);
    expect((await api.client(body.key).job(job.id)).metadata).toEqual({ user: 'ada' });
    await owner().call('DELETE', `${KEYS}/${account.keyId}`);
    expect((await ada.client.call('GET', '/api/v2/jobs')).status).toBe(401);
  });

  it('is under the latest successor of its maker that works, and lasts as long, while its maker overlaps with it', async () => {
    const rotate = async (id: string): Promise<{ id: string }> => {
      const json = { overlap_seconds: 3_600 };
      return (await owner().call<{ id: string }>('POST', `${KEYS}/${id}/rotate`, { json })).body;
    };
    const make = async (): Promise<{ id: string }> =>
      (await owner().call<{ id: string }>('POST', KEYS, { json: { name: 'eve', labels: { user: 'eve' } } })).body;
    const successor = await rotate(account.keyId);
    const eve = await make();
    expect(eve).toMatchObject({ parent_id: successor.id, expires_at: null });
    const foreign = await makeSubKey(api, { ...account, ...(await api.key(account.id)) }, { user: 'dan' });
    for (const { id } of [eve, ada, foreign])
      expect(await rotate(id)).toMatchObject({ parent_id: successor.id, expires_at: null });
    const next = await rotate(successor.id);
    expect(await make()).toMatchObject({ parent_id: next.id, expires_at: null });
    await owner().call('DELETE', `${KEYS}/${next.id}`);
    expect(await make()).toMatchObject({ parent_id: successor.id, expires_at: expect.any(String) as string });
  });

  it('lets a process of a version without sub-keys do nothing: it knows none of the stored scopes', async () => {
    const { scopes } = await api.test.database.models.apiKey.findUniqueOrThrow({ where: { id: ada.id } });
    expect(scopes).toHaveLength(5);
    expect(scopes.filter((scope) => (SCOPES as readonly string[]).includes(scope))).toEqual([]);
  });

  it('signs nobody in to the console', async () => {
    const refused = await api.client(null).call('POST', '/platform/v1/sessions', { json: { api_key: ada.key } });
    expect(refused.status).toBe(401);
    const link = await api
      .operator()
      .call('POST', `/admin/v1/accounts/${account.id}/sign-in-links`, { json: { api_key_id: ada.id } });
    expect(link.status).not.toBe(500);
  });
});

describe('a job of a sub-key', () => {
  it('carries its labels beside those of the submission', async () => {
    const { metadata } = await ada.client.run(GRAPH, { metadata: { shot: '7', user: 'ada' } });
    expect(metadata).toEqual({ shot: '7', user: 'ada' });
  });

  it('is refused when it names one of them otherwise, by field and with the cure; nothing is recorded', async () => {
    const body = JSON.stringify({ workflow: GRAPH, metadata: { user: 'bob' } });
    const refused = await ada.client.submit(body);
    expect(refused).toMatchObject({ status: 422, body: { error: { code: 'metadata_invalid' } } });
    expect(fieldsOf(refused.body)).toMatchObject({
      fields: [{ field: 'metadata.user', reason: expect.stringContaining('leave it out') as string }],
    });
    const estimate = await ada.client.call('POST', '/platform/v1/estimates', { text: body });
    expect(estimate).toMatchObject({ status: 200, body: { accepted: false, error: { code: 'metadata_invalid' } } });
    expect(await jobsOf(ada)).toEqual([]);
    const { body: all } = await owner().call<JobPage>('GET', '/api/v2/jobs');
    expect(all.jobs).toEqual([]);
  });

  it('of a batch carries them too, and the batch names the item that cannot', async () => {
    const items = [{ workflow: GRAPH }, { workflow: GRAPH, metadata: { user: 'bob' } }];
    const refused = await ada.client.call('POST', '/api/v2/batches', { json: { jobs: items } });
    expect(fieldsOf(refused.body)).toMatchObject({ items: [{ index: 1, code: 'metadata_invalid' }] });
    const made = await ada.client.call<{ id: string }>('POST', '/api/v2/batches', {
      json: { jobs: items, admission: 'each' },
    });
    expect(made.status).toBe(201);
    const listed = await ada.client.call<JobPage>('GET', `/api/v2/batches/${made.body.id}/jobs`);
    expect(listed.body.jobs.map(({ metadata }) => metadata)).toEqual([{ user: 'ada' }]);
    for (const path of ['', '/jobs']) {
      expect((await bob.client.call('GET', `/api/v2/batches/${made.body.id}${path}`)).status).toBe(404);
    }
  });

  it('has at most 16 labels, its own and those of its key together', async () => {
    const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`k${at}`, 'v']));
    const refused = await ada.client.submit(JSON.stringify({ workflow: GRAPH, metadata }));
    expect(refused.status).toBe(422);
    expect(fieldsOf(refused.body)).toMatchObject({ fields: [{ field: 'metadata' }] });
  });

  it('is found by every key whose labels it has, and by the account', async () => {
    const both = await makeSubKey(api, account, { user: 'ada', team: 'x' });
    const job = await both.client.run(GRAPH);
    const other = await owner().submit(JSON.stringify({ workflow: GRAPH, metadata: { user: 'ada' } }));
    expect(await jobsOf(ada)).toEqual([other.body.id, job.id]);
    expect(await jobsOf(both)).toEqual([job.id]);
    expect(await jobsOf(bob)).toEqual([]);
    const { body } = await owner().call<JobPage>('GET', '/api/v2/jobs?metadata[user]=ada');
    expect(body.jobs.map(({ id }) => id)).toEqual([other.body.id, job.id]);
  });

  it('is canceled by its key alone', async () => {
    const { id } = await ada.client.run(GRAPH);
    expect((await bob.client.call('POST', `/api/v2/jobs/${id}/cancel`)).status).toBe(404);
    expect((await ada.client.job(id)).status).toBe('queued');
    const canceled = await ada.client.call<Job>('POST', `/api/v2/jobs/${id}/cancel`);
    expect(canceled.body.status).toBe('canceled');
  });

  it('is listed in pages that skip and repeat none of its own, also while others submit', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      ids.unshift((await ada.client.run(GRAPH)).id);
      await bob.client.run(GRAPH);
    }
    const seen: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const query: string = `?limit=2${cursor && `&cursor=${cursor}`}`;
      const { body } = await ada.client.call<JobPage>('GET', `/api/v2/jobs${query}`);
      seen.push(...body.jobs.map(({ id }) => id));
      cursor = body.next_cursor;
    }
    expect(seen).toEqual(ids);
    expect(await jobsOf(ada, '?metadata[user]=bob')).toEqual([]);
  });

  it('has an Idempotency-Key that is its key alone, of jobs, of batches and of uploads', async () => {
    const headers = { 'Idempotency-Key': 'the-same' };
    const submission = JSON.stringify({ workflow: GRAPH });
    const clients = [ada.client, bob.client, owner()];
    for (const client of clients) expect((await client.submit(submission, headers)).status).toBe(201);
    for (const client of clients) {
      const repeated = await client.submit(submission, headers);
      expect(repeated).toMatchObject({ status: 422, body: { error: { code: 'idempotency_key_reuse' } } });
    }
    const json = { jobs: [{ workflow: GRAPH }] };
    const batches = await Promise.all(
      clients.map((client) => client.call<{ id: string }>('POST', '/api/v2/batches', { json, headers })),
    );
    expect(batches.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(batches.map(({ body }) => body.id)).size).toBe(3);
    const form = { content_type: 'text/plain', file_path: 'a.txt' };
    for (const client of clients) {
      expect([200, 201]).toContain((await client.upload(Buffer.from('x'), form, headers)).status);
    }
  });
});

describe('the assets of a sub-key', () => {
  const form = { content_type: 'text/plain', file_path: 'a.txt' };

  it('are its own, also where another one has the same bytes', async () => {
    const bytes = Buffer.from('the same bytes');
    const first = await ada.client.upload(bytes, form);
    const hash = first.body.hash ?? '';
    const heads = await bob.client.call('HEAD', `/api/v2/assets/hash/${hash}`);
    const minted = await bob.client.call('POST', '/api/v2/assets/from-hash', { json: { hash, file_path: 'a.txt' } });
    expect([heads.status, minted.status]).toEqual([404, 404]);
    const second = await bob.client.upload(bytes, form);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body.id).not.toBe(first.body.id);
    expect((await bob.client.call('GET', `/api/v2/assets/${first.body.id}`)).status).toBe(404);
    expect((await bob.client.call('DELETE', `/api/v2/assets/${first.body.id}`)).status).toBe(404);
    expect((await ada.client.upload(bytes, form)).body.id).toBe(first.body.id);
  });

  it('are the inputs of its jobs, and of no other key', async () => {
    const { body: asset } = await ada.client.upload(Buffer.from('an input'), form);
    const reference = { __type: 'core/ASSET', info: { id: asset.id } };
    const workflow = { ...GRAPH, '2': { ...GRAPH['2'], inputs: { images: ['1', 0], filename_prefix: reference } } };
    const refused = await bob.client.submit(JSON.stringify({ workflow }));
    const own = await ada.client.submit(JSON.stringify({ workflow }));
    expect(JSON.stringify(refused.body)).toContain('missing_asset');
    expect(JSON.stringify(own.body)).not.toContain('missing_asset');
  });

  it('are listed for it alone', async () => {
    const { body: mine } = await ada.client.upload(Buffer.from('of ada'), form);
    await bob.client.upload(Buffer.from('of bob'), form);
    const { body } = await ada.client.call<{ assets: Asset[] }>('GET', '/api/v2/assets');
    expect(body.assets.map(({ id }) => id)).toEqual([mine.id]);
    const { body: all } = await owner().call<{ assets: Asset[] }>('GET', '/api/v2/assets');
    expect(all.assets).toHaveLength(2);
    const outputs = await ada.client.call<{ assets: Asset[] }>('GET', '/api/v2/assets?kind=output');
    expect(outputs).toMatchObject({ status: 200, body: { assets: [] } });
  });
});

it("shows a sub-key its own usage, and an estimate that knows no one else's runs", async () => {
  for (const { client } of [ada, bob]) {
    const { id } = await client.run(GRAPH);
    await client.call('POST', `/api/v2/jobs/${id}/cancel`);
  }
  const usage = await ada.client.call('GET', '/platform/v1/usage?group_by=label:user');
  expect(usage).toMatchObject({ status: 200, body: { total: { jobs: 1 }, usage: [{ group: 'ada', jobs: 1 }] } });
  const all = await owner().call('GET', '/platform/v1/usage?group_by=label:user');
  expect(all).toMatchObject({ body: { total: { jobs: 2 } } });
});

it("shows a sub-key nothing of the account's balance, also where that does not suffice", async () => {
  const json = { amount_micros: -99_999_999, reason: 'a test' };
  await api.operator().call('POST', `/admin/v1/accounts/${account.id}/credits`, { json });
  const body = JSON.stringify({ workflow: GRAPH });
  const paths = ['/api/v2/jobs', '/platform/v1/estimates'];
  for (const path of paths) {
    const { text } = await ada.client.call('POST', path, { text: body });
    expect(text).toContain('insufficient_credits');
    expect(text).not.toContain('available');
  }
  const batch = await ada.client.call('POST', '/api/v2/batches', { json: { jobs: [{ workflow: GRAPH }] } });
  expect(batch.text).not.toContain('available');
  expect((await owner().submit(body)).text).toContain('"available_micros":1');
});
