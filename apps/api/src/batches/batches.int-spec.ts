import { randomUUID } from 'node:crypto';
import type { BatchJobPage, BatchPage, BatchView, ErrorEnvelope, Job } from '@millrace/contracts';
import { eventually, type Answer, type ApiClient } from '@millrace/testing';
import { GRAPH, announceCatalogue } from '../fixtures/own-records';
import { RunningApi } from '../fixtures/running-api';

const PATH = '/api/v2/batches';
/** What one job of the test holds. */
const LIMITS = { limits: { queue_limit: 1_000 } };

let api: RunningApi;
let client: ApiClient;
beforeAll(async () => {
  api = await RunningApi.open();
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
});
beforeEach(async () => {
  client = api.client((await api.account(LIMITS)).key);
});
afterAll(() => api.close());

const colors = (count: number): object => ({
  workflow: GRAPH,
  table: { '1.color': Array.from({ length: count }, (_, color) => color) },
});
const submit = <T = BatchView>(json: object, headers: Record<string, string> = {}): Promise<Answer<T>> =>
  client.call<T>('POST', PATH, { text: JSON.stringify(json), headers });
const jobsOf = async (id: string, query = ''): Promise<BatchJobPage> =>
  (await client.call<BatchJobPage>('GET', `${PATH}/${id}/jobs${query}`)).body;
const read = async (id: string): Promise<BatchView> => (await client.call<BatchView>('GET', `${PATH}/${id}`)).body;
const waiting = async (): Promise<number> =>
  (await client.call<{ jobs: Job[] }>('GET', '/api/v2/jobs?limit=100&status=queued')).body.jobs.length;
const refusalOf = async (json: object, headers: Record<string, string> = {}): Promise<[number, ErrorEnvelope]> => {
  const { status, body } = await submit<ErrorEnvelope>(json, headers);
  return [status, body];
};

describe('a batch of a workflow and a table', () => {
  it('makes a job of each row, in order, whose graph differs in the values of the table alone', async () => {
    const workflow =
      '{ "1": {"class_type":"EmptyImage", "inputs":{"width":8,"height":8,"batch_size":1,"color" : 0}}, ' +
      '"2":{"class_type":"SaveImage","inputs":{"images":["1",0],"filename_prefix":"\\u0061"}} }';
    const table = '{"1.color": [16777215, 7], "2.filename_prefix": ["x", "\\u00e9"]}';
    const text = `{"workflow":${workflow},"table":${table},"combine":"cross","metadata":{"user":"ada"}}`;
    const { status, body } = await client.call<BatchView>('POST', PATH, { text });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      status: 'active',
      item_count: 4,
      job_count: 4,
      refused_count: 0,
      progress: 0,
      charged_micros: 0,
      completed_at: null,
      counts: { queued: 4, running: 0, succeeded: 0 },
    });
    const { jobs } = await jobsOf(body.id);
    expect(jobs.map((job) => [job.batch_index, job.status, job.metadata])).toEqual(
      [0, 1, 2, 3].map((index) => [index, 'queued', { user: 'ada' }]),
    );
    expect([...jobs.map(({ id }) => id)].sort()).toEqual(jobs.map(({ id }) => id));
    const graphs = await Promise.all(
      jobs.map(async ({ id }) => (await client.call('GET', `/api/v2/jobs/${id}/workflow`)).text),
    );
    const values = [
      ['16777215', '"x"'],
      ['16777215', '"\\u00e9"'],
      ['7', '"x"'],
      ['7', '"\\u00e9"'],
    ];
    expect(graphs).toEqual(
      values.map(([color = '', prefix = '']) => {
        const graph = workflow.replace('"color" : 0', `"color" : ${color}`).replace('"\\u0061"', prefix);
        return `{"workflow":${graph},"format":"api"}`;
      }),
    );
  });

  it.each([
    [{ workflow: GRAPH, table: { '1.color': [1], '9.x': [2] } }, 'table.9.x'],
    [{ workflow: GRAPH, table: { '1.color': [1, 2], '1.width': [8] } }, 'table'],
    [{ workflow: GRAPH, table: {} }, 'table'],
    [{ workflow: GRAPH, table: [] }, 'table'],
    [
      { workflow: GRAPH, table: Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`1.x${at}`, [1]])) },
      'table',
    ],
    [{ workflow: GRAPH, table: { [`${'.'.repeat(16_000)}a`]: [1] } }, `table.${'.'.repeat(80)}…`],
    [{ workflow: GRAPH }, 'jobs'],
    [{ jobs: [] }, 'jobs'],
    [{ jobs: [{ workflow: GRAPH }], workflow: GRAPH }, 'workflow'],
    [{ jobs: [{ workflow: GRAPH }], webhook_url: 'https://x.example' }, 'webhook_url'],
    [{ jobs: [{ workflow: GRAPH }], admission: 'some' }, 'admission'],
    [{ ...colors(2), combine: 'braid' }, 'combine'],
    [{ ...colors(2), extra_data: {} }, 'extra_data'],
    [
      { ...colors(101), table: { '1.color': Array(101).fill(1), '1.width': Array(100).fill(8) }, combine: 'cross' },
      'table',
    ],
  ])('that is none is refused, with the field: %#', async (json, field) => {
    const [status, { error }] = await refusalOf(json);
    expect([status, error.code]).toEqual([422, 'invalid_request']);
    expect((error.details?.fields as { field: string }[])[0]?.field).toBe(field);
  });

  it('whose graphs are larger together than may be is refused, also where each of them is', async () => {
    const unknown = { class_type: 'Hide', inputs: { text: 'x'.repeat(700_000) } };
    const [status, { error }] = await refusalOf({
      ...colors(100),
      workflow: { ...GRAPH, '3': unknown },
      admission: 'each',
    });
    expect([status, error.code]).toEqual([413, 'payload_too_large']);
  });

  it('that is no JSON is refused as such', async () => {
    for (const text of ['{', '{"jobs": [{"workflow": {]}}]}', '{"workflow": {}, "table": }', '[]']) {
      const { status, body } = await client.call('POST', PATH, { text });
      expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    }
  });
});

describe('a batch of listed jobs', () => {
  const bad = { workflow: { '1': { class_type: 'Unheard', inputs: {} } } };
  const good = { workflow: GRAPH, metadata: { nr: '1' } };
  const unlabeled = { workflow: GRAPH, metadata: { nr: 1 } };
  const asset = { __type: 'core/ASSET', info: { id: randomUUID() } };
  const lacking = {
    workflow: { ...GRAPH, '3': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: asset } } },
  };

  it('is refused whole, with what is wrong with each, and nothing is left', async () => {
    const key = { 'Idempotency-Key': randomUUID() };
    const [status, { error }] = await refusalOf({ jobs: [good, bad, unlabeled, good, lacking] }, key);
    expect([status, error.code]).toEqual([422, 'batch_refused']);
    expect(error.details).toMatchObject({
      refused: 3,
      items: [
        { index: 1, code: 'invalid_workflow', details: { node_errors: { '1': expect.any(Array) as unknown } } },
        { index: 2, code: 'metadata_invalid' },
        { index: 4, code: 'missing_asset' },
      ],
    });
    expect(await waiting()).toBe(0);
    const { status: again } = await submit({ jobs: [good] }, key);
    expect(again).toBe(201);
  });

  it('is accepted in part where that was asked for', async () => {
    const { status, body } = await submit({ jobs: [bad, good, lacking, good], admission: 'each' });
    expect(status).toBe(201);
    expect(body).toMatchObject({ item_count: 4, job_count: 2, refused_count: 2, counts: { queued: 2 } });
    expect(body.refused.map(({ index, code }) => [index, code])).toEqual([
      [0, 'invalid_workflow'],
      [2, 'missing_asset'],
    ]);
    const { jobs } = await jobsOf(body.id);
    expect(jobs.map((job) => job.batch_index)).toEqual([1, 3]);
    const [none] = await refusalOf({ jobs: [bad], admission: 'each' });
    expect(none).toBe(422);
  });

  it('is accepted without a job that is refused for a text that cannot be stored, or names one', async () => {
    const input = (name: string): object => ({
      '1': { ...GRAPH['1'], inputs: { ...GRAPH['1'].inputs, [name]: asset } },
    });
    const refused = [
      { workflow: GRAPH, metadata: { '\ud800': 'x' } },
      { workflow: GRAPH, metadata: { 'a\0b': 'x' } },
      { workflow: GRAPH, metadata: { [`${'k'.repeat(79)}😀`]: 'x' } },
      { workflow: { ...GRAPH, ...input('\udc00') } },
      { workflow: { ...GRAPH, '\ud800': { class_type: 'Unheard\0', inputs: {} } } },
    ];
    const { status, body } = await submit({ jobs: [good, ...refused], admission: 'each' });
    expect([status, body.job_count, body.refused_count]).toEqual([201, 1, refused.length]);
    expect(body.refused.map(({ code, details }) => [code, Object.keys(details ?? {})])).toEqual([
      ...Array<unknown>(3).fill(['metadata_invalid', ['fields']]),
      ['missing_asset', ['references']],
      ['invalid_workflow', ['node_errors']],
    ]);
    const fields = body.refused.map(({ details }) => (details?.fields as { field: string }[] | undefined)?.[0]?.field);
    expect(fields.slice(0, 3)).toEqual(['metadata.\ufffd', 'metadata.a\ufffdb', `metadata.${'k'.repeat(79)}…`]);
    expect((await read(body.id)).refused).toEqual(body.refused);
  });

  it('has no credentials', async () => {
    const [, { error }] = await refusalOf({ jobs: [{ workflow: GRAPH, extra_data: { api_key_comfy_org: 'k' } }] });
    expect(error.details).toMatchObject({ items: [{ index: 0, code: 'invalid_request' }] });
  });
});

describe('the limits of an account', () => {
  it('hold for all jobs of a batch together', async () => {
    client = api.client((await api.account({ limits: { queue_limit: 5 } })).key);
    const [status, { error }] = await refusalOf(colors(6));
    expect([status, error.code]).toEqual([422, 'invalid_request']);
    expect((await submit(colors(3))).status).toBe(201);
    const full = await submit<ErrorEnvelope>(colors(3));
    expect([full.status, full.body.error.code, full.headers['retry-after']]).toEqual([429, 'queue_full', '2']);
    const { body } = await submit({ ...colors(3), admission: 'each' });
    expect(body).toMatchObject({ item_count: 3, job_count: 2, refused: [{ index: 2, code: 'queue_full' }] });
  });

  it('take the credits of all jobs, or none', async () => {
    const balance = async (): Promise<number> =>
      (await client.call<{ available_micros: number }>('GET', '/platform/v1/credits')).body.available_micros;
    const before = await balance();
    await submit(colors(1));
    const hold = before - (await balance());
    const affordable = Math.floor((before - hold) / hold);
    const [status, { error }] = await refusalOf(colors(affordable + 1));
    expect([status, error.code, await balance()]).toEqual([402, 'insufficient_credits', before - hold]);
    expect((await submit(colors(affordable))).status).toBe(201);
    expect(await balance()).toBe(before - hold * (affordable + 1));
  });
});

describe('rules of labels and caps', () => {
  const rule = (json: object): Promise<{ status: number }> => client.call('PUT', '/platform/v1/label-rules', { json });
  const jobs = ['ada', 'bob', 'ada', 'bob', 'cy'].map((user) => ({ workflow: GRAPH, metadata: { user } }));

  it('refuse single jobs of a batch where each counts by itself, and else all of them', async () => {
    expect((await rule({ label: 'user', max_jobs: 1 })).status).toBe(200);
    const [status, { error }] = await refusalOf({ jobs });
    expect([status, error.code, await waiting()]).toEqual([429, 'label_limit', 0]);
    const { status: accepted, body } = await submit({ jobs, admission: 'each' });
    expect([accepted, body.job_count, body.refused_count]).toEqual([201, 3, 2]);
    expect(body.refused).toMatchObject([
      { index: 2, code: 'label_limit', details: { label: 'user', value: 'ada', limit: 'max_jobs' } },
      { index: 3, code: 'label_limit', details: { value: 'bob' } },
    ]);
    expect((await jobsOf(body.id)).jobs.map((job) => job.batch_index)).toEqual([0, 1, 4]);
    const [full] = await refusalOf({ jobs, admission: 'each' });
    expect(full).toBe(429);
  });

  it('of the account leave the first jobs that fit', async () => {
    const json = { scope: 'account', daily_micros: 1_500_000 };
    expect((await client.call('PUT', '/platform/v1/spend/caps', { json })).status).toBe(200);
    const [status, { error }] = await refusalOf({ jobs });
    expect([status, error.code]).toEqual([402, 'spend_cap']);
    const { body } = await submit({ jobs, admission: 'each' });
    expect(body.refused.map(({ index, code }) => [index, code])).toEqual([2, 3, 4].map((at) => [at, 'spend_cap']));
  });
});

describe('a limit of what a job may cost', () => {
  const limit = (micros: number): Record<string, string> => ({ 'Millrace-Spend-Limit-Micros': String(micros) });

  it('is that of each job of a batch', async () => {
    const { body } = await submit(colors(2), limit(700_000));
    const { jobs } = await jobsOf(body.id);
    const recorded = await api.test.database.models.job.findMany({ where: { id: { in: jobs.map(({ id }) => id) } } });
    expect(recorded.map(({ spendLimitMicros }) => spendLimitMicros)).toEqual([700_000n, 700_000n]);
  });

  it('refuses a batch whose jobs hold more each', async () => {
    const [status, body] = await refusalOf(colors(2), limit(1));
    expect([status, body.error.details]).toEqual([
      422,
      { fields: [expect.objectContaining({ field: 'Millrace-Spend-Limit-Micros' })] },
    ]);
    expect(await waiting()).toBe(0);
  });

  it('belongs to what a key names', async () => {
    const key = { 'Idempotency-Key': randomUUID() };
    const { body } = await submit(colors(1), { ...key, ...limit(700_000) });
    expect((await submit(colors(1), { ...key, ...limit(700_000) })).body.id).toBe(body.id);
    expect(await refusalOf(colors(1), { ...key, ...limit(800_000) })).toMatchObject([
      422,
      { error: { code: 'idempotency_key_reuse' } },
    ]);
  });
});

describe('an Idempotency-Key', () => {
  it('names one batch: a repeat is answered with it, also when both arrive at once', async () => {
    const key = { 'Idempotency-Key': randomUUID() };
    const answers = await Promise.all([submit(colors(20), key), submit(colors(20), key), submit(colors(20), key)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 201]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(await waiting()).toBe(20);
  });

  it('is refused with another body, and with the same one of another account only names its own', async () => {
    const key = { 'Idempotency-Key': randomUUID() };
    const { body } = await submit(colors(2), key);
    const [status, { error }] = await refusalOf(colors(3), key);
    expect([status, error.code]).toEqual([422, 'idempotency_key_reuse']);
    expect(error.message).toContain('among your batches');
    client = api.client((await api.account(LIMITS)).key);
    const other = await submit(colors(2), key);
    expect([other.status, other.body.id === body.id]).toEqual([201, false]);
  });
});

describe('a batch', () => {
  it('is canceled with all its jobs, once and again', async () => {
    const { body } = await submit(colors(30));
    const { body: canceled } = await client.call<BatchView>('POST', `${PATH}/${body.id}/cancel`);
    expect(canceled).toMatchObject({ status: 'completed', progress: 1, counts: { canceled: 30, queued: 0 } });
    expect(canceled.completed_at).not.toBeNull();
    const again = await client.call<BatchView>('POST', `${PATH}/${body.id}/cancel`);
    expect(again.body).toEqual(canceled);
  });

  it('has its canceled jobs tried again, once for a key, and nothing where there are none', async () => {
    const { body } = await submit({ ...colors(3), metadata: { user: 'ada' } });
    const before = await jobsOf(body.id);
    await client.call('POST', `${PATH}/${body.id}/cancel`);
    const again = (json: object, key?: string, id = body.id): Promise<Answer<BatchView & ErrorEnvelope>> =>
      client.call('POST', `${PATH}/${id}/retry`, {
        json,
        headers: key === undefined ? {} : { 'Idempotency-Key': key },
      });
    expect((await again({})).body).toMatchObject({ status: 'completed', retry_count: 0, counts: { canceled: 3 } });
    const key = randomUUID();
    const { status, body: retried } = await again({ statuses: ['canceled'] }, key);
    expect([status, retried]).toEqual([
      200,
      expect.objectContaining({ status: 'active', retry_count: 1, completed_at: null, job_count: 3 }),
    ]);
    expect(retried.counts).toMatchObject({ queued: 3, canceled: 0 });
    const { jobs } = await jobsOf(body.id);
    expect(jobs.map((job) => [job.batch_index, job.metadata])).toEqual([0, 1, 2].map((at) => [at, { user: 'ada' }]));
    const [first] = before.jobs;
    expect(jobs.map(({ id }) => id)).not.toContain(first?.id);
    const earlier = await client.call<Job>('GET', `/api/v2/jobs/${first?.id ?? ''}`);
    expect(earlier.body.status).toBe('canceled');
    const graphOf = async (id = ''): Promise<string> => (await client.call('GET', `/api/v2/jobs/${id}/workflow`)).text;
    expect(await graphOf(jobs[0]?.id)).toBe(await graphOf(first?.id));
    await client.call('POST', `${PATH}/${body.id}/cancel`);
    expect((await again({ statuses: ['canceled'] }, key)).body).toMatchObject({
      retry_count: 1,
      counts: { canceled: 3 },
    });
    const reused = await again({ statuses: ['expired'] }, key);
    expect([reused.status, reused.body.error.code]).toEqual([422, 'idempotency_key_reuse']);
    expect(reused.text).toContain('another retry of this batch');
    const wrong = await again({ statuses: ['succeeded'] });
    expect([wrong.status, wrong.body.error.code]).toEqual([422, 'invalid_request']);
  });

  it('that is tried again is answered with the caps that are used, as a new one is', async () => {
    const { body, headers } = await submit(colors(2));
    expect(headers['millrace-spend-warning']).toBeUndefined();
    await client.call('POST', `${PATH}/${body.id}/cancel`);
    const json = { scope: 'account', daily_micros: 2_000_000 };
    expect((await client.call('PUT', '/platform/v1/spend/caps', { json })).status).toBe(200);
    const key = { 'Idempotency-Key': randomUUID() };
    const again = (): Promise<Answer<BatchView>> =>
      client.call('POST', `${PATH}/${body.id}/retry`, { json: { statuses: ['canceled'] }, headers: key });
    expect((await again()).headers['millrace-spend-warning']).toBe('account;day=50');
    expect((await again()).headers['millrace-spend-warning']).toBeUndefined();
  });

  it('is one stream of events: each job that ends, the counts, and its end last', async () => {
    const account = await api.account(LIMITS);
    client = api.client(account.key);
    const { body } = await submit(colors(3));
    const { jobs } = await jobsOf(body.id);
    const { key } = await api.account(LIMITS);
    expect((await api.client(key).call('GET', `${PATH}/${body.id}/events`)).status).toBe(404);
    await client.call('POST', `/api/v2/jobs/${jobs[0]?.id ?? ''}/cancel`);
    const answer = await fetch(`${api.publicUrl}${PATH}/${body.id}/events`, {
      headers: { authorization: `Bearer ${account.key}` },
    });
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    let text = '';
    let isCanceled = false;
    // The first frame is the state in which the stream begins.
    for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      if (isCanceled || !text.includes('\n\n')) continue;
      isCanceled = true;
      await client.call('POST', `${PATH}/${body.id}/cancel`);
    }
    const frames = text
      .split('\n\n')
      .filter((frame) => frame.startsWith('event: '))
      .map((frame) => frame.split('\n'))
      .map(([event = '', data = '']) => ({
        event: event.slice('event: '.length),
        data: JSON.parse(data.slice('data: '.length)) as BatchView & { batch_index?: number },
      }));
    expect(frames[0]).toMatchObject({ event: 'status', data: { id: body.id, job_count: 3 } });
    expect(frames.at(-1)).toMatchObject({ event: 'status', data: { status: 'completed', counts: { canceled: 3 } } });
    const ended = frames.filter(({ event }) => event === 'job');
    expect(ended.map(({ data }) => data.batch_index).sort()).toEqual([1, 2]);
    expect(ended[0]?.data).toMatchObject({ status: 'canceled' });
  });

  it('is downloaded in a place of its account, as many at a time as it may have streams', async () => {
    const { key } = await api.account({ limits: { stream_limit: 1 } });
    client = api.client(key);
    const { body } = await submit(colors(2));
    const headers = { authorization: `Bearer ${key}` };
    const events = new AbortController();
    await fetch(`${api.publicUrl}${PATH}/${body.id}/events`, { headers, signal: events.signal });
    const ask = (path: string, method = 'GET'): Promise<Response> =>
      fetch(`${api.publicUrl}${PATH}/${body.id}${path}`, { headers, method });
    for (const path of ['/results', '/outputs.zip']) {
      const refused = await ask(path);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
      expect(((await refused.json()) as ErrorEnvelope).error.code).toBe('too_many_streams');
      expect((await ask(path, 'HEAD')).status).toBe(200);
    }
    events.abort();
    const first = await eventually('the place to be free', async () => {
      const answer = await ask('/results');
      return answer.status === 200 ? answer : null;
    });
    expect((await first.text()).trim().split('\n')).toHaveLength(2);
    await eventually('the place to be free again', async () => {
      const answer = await ask('/outputs.zip');
      return answer.status === 200 && (await answer.arrayBuffer()).byteLength > 0;
    });
  });

  it('that is being canceled is not tried again', async () => {
    const { body } = await submit(colors(1));
    await client.call('POST', `${PATH}/${body.id}/cancel`);
    await api.test.database.models.batch.update({ where: { id: body.id }, data: { canceling: true } });
    const json = { statuses: ['canceled'] };
    const busy = await client.call('POST', `${PATH}/${body.id}/retry`, { json });
    expect([busy.status, busy.body.error.code]).toEqual([409, 'batch_busy']);
  });

  it('is listed, newest first, page by page, and so are its jobs', async () => {
    const first = (await submit(colors(5))).body;
    const second = (await submit(colors(1))).body;
    const page = (await client.call<BatchPage>('GET', `${PATH}?limit=1`)).body;
    expect(page.batches.map(({ id }) => id)).toEqual([second.id]);
    const next = (await client.call<BatchPage>('GET', `${PATH}?limit=1&cursor=${page.next_cursor}`)).body;
    expect([next.batches.map(({ id }) => id), next.next_cursor]).toEqual([[first.id], undefined]);
    const jobs = await jobsOf(first.id, '?limit=3');
    const rest = await jobsOf(first.id, `?limit=3&cursor=${jobs.next_cursor}`);
    expect([...jobs.jobs, ...rest.jobs].map((job) => job.batch_index)).toEqual([0, 1, 2, 3, 4]);
    expect(rest.next_cursor).toBeUndefined();
    expect((await jobsOf(first.id, '?status=failed')).jobs).toEqual([]);
  });

  it('of another account is not found', async () => {
    const { body } = await submit(colors(1));
    const other = api.client((await api.account()).key);
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/jobs'],
      ['GET', '/results'],
      ['GET', '/events'],
      ['GET', '/outputs.zip'],
      ['POST', '/cancel'],
      ['POST', '/retry'],
    ]) {
      expect((await other.call(method ?? '', `${PATH}/${body.id}${path}`)).status).toBe(404);
    }
    expect((await read(body.id)).counts.queued).toBe(1);
  });
});
