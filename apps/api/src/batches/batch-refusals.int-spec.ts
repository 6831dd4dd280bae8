import { Prisma } from '@prisma/client';
import { newId, type BatchPage, type BatchView } from '@millrace/contracts';
import type { ApiClient } from '@millrace/testing';
import { GRAPH, announceCatalogue } from '../fixtures/own-records';
import { RunningApi } from '../fixtures/running-api';

const PATH = '/api/v2/batches';
const BATCHES = 100;
/** As large as a version before recorded them. */
const REFUSED = Array.from({ length: 100 }, (_, at) => ({
  index: at + 1,
  code: 'invalid_workflow',
  message: 'm'.repeat(1_000),
  details: { label: 'user', value: 'ada', errors: 'd'.repeat(3_900) },
}));

let api: RunningApi;
let client: ApiClient;
let key: string;
let batchId: string;
beforeAll(async () => {
  api = await RunningApi.open();
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
  ({ key } = await api.account());
  client = api.client(key);
  const json = { jobs: [{ workflow: GRAPH }] };
  batchId = (await client.call<BatchView>('POST', PATH, { text: JSON.stringify(json) })).body.id;
  const { database } = api.test;
  await database.execute(Prisma.sql`
    UPDATE batches SET item_count = 201, refused = ${JSON.stringify(REFUSED)}::jsonb WHERE id = ${batchId}::uuid`);
  for (let more = 1; more < BATCHES; more += 1) {
    await database.execute(Prisma.sql`
      INSERT INTO batches (id, account_id, surface, request_hash, item_count, job_count, refused, expires_at)
      SELECT ${newId()}::uuid, account_id, surface, request_hash, item_count, job_count, refused, expires_at
      FROM batches WHERE id = ${batchId}::uuid`);
  }
});
afterAll(() => api.close());

it('a page of batches that refused many jobs is small: it has the first refusals of each, without details', async () => {
  const { text, body } = await client.call<BatchPage>('GET', `${PATH}?limit=${BATCHES}`);
  expect(body.batches).toHaveLength(BATCHES);
  expect(text.length).toBeLessThan(1_000_000);
  for (const { refused, refused_count: count, refused_truncated: truncated } of body.batches) {
    expect([refused.map(({ index, details }) => [index, details]), count, truncated]).toEqual([
      [1, 2, 3].map((index) => [index, null]),
      200,
      true,
    ]);
  }
});

it('a batch that refused many jobs has the first refusals, and says that there are more', async () => {
  const { text, body } = await client.call<BatchView>('GET', `${PATH}/${batchId}`);
  expect(text.length).toBeLessThan(70_000);
  expect(body).toMatchObject({ refused_count: 200, refused_truncated: true });
  expect(body.refused).toEqual(REFUSED.slice(0, body.refused.length));
  expect(body.refused.length).toBeGreaterThan(10);
});

it('the stream of a batch that refused many jobs has no more of them than a list', async () => {
  const stop = new AbortController();
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${api.publicUrl}${PATH}/${batchId}/events`, { headers, signal: stop.signal });
  let text = '';
  for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes('\n\n')) break;
  }
  stop.abort();
  expect(text.length).toBeLessThan(10_000);
  expect(text).toContain('"refused_truncated":true');
});
