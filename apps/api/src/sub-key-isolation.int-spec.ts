import { Prisma } from '@prisma/client';
import { endpointsOfModule, pathParametersOf, type Endpoint } from './endpoints';
import { announceCatalogue } from './fixtures/own-records';
import { RunningApi, type TestAccount } from './fixtures/running-api';
import { makeSubKey, makeSubKeyRecords, type SubKey, type SubKeyRecords } from './fixtures/sub-keys';
import { PublicModule } from './public.module';

/*
 * The second dimension of the isolation matrix: within one account, every endpoint as a sub-key, with the records of another one.
 */

type Scoped = Endpoint & { access: Extract<Endpoint['access'], { scope: string }> };

const scoped = endpointsOfModule(PublicModule).filter((endpoint): endpoint is Scoped => 'scope' in endpoint.access);
const isOpen = ({ access }: Scoped): boolean => access.by === 'surface' || access.subKeys === true;
const nameOf = ({ method, path }: Endpoint): string => `${method.toUpperCase()} ${path}`;
const named = (endpoints: Scoped[]): [string, Scoped][] => endpoints.map((endpoint) => [nameOf(endpoint), endpoint]);

/** No part of any field's name. */
const OWNER = 'ada-the-first';

/** Every endpoint beyond the surfaces that lets sub-keys in. Its handler goes by their labels: add to it knowingly. */
const BEYOND_SURFACES = ['GET /platform/v1/usage'];

let api: RunningApi;
let account: TestAccount;
let ada: SubKey;
let records: SubKeyRecords;
let bob: SubKey;
beforeAll(async () => {
  api = await RunningApi.open({ MILLRACE_REQUESTS_PER_MINUTE: '1000000' });
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
  account = await api.account();
  ada = await makeSubKey(api, account, { user: OWNER });
  bob = await makeSubKey(api, account, { user: 'bob' });
  records = await makeSubKeyRecords(ada, 'what ada uploaded');
  await makeSubKeyRecords(bob, 'what bob uploaded');
});
afterAll(() => api.close());

function pathOf(endpoint: Endpoint, own: SubKeyRecords): string {
  const ids: Record<string, string> = {
    job: own.jobId,
    batch: own.batchId,
    asset: own.assetId,
    upload: own.uploadId,
  };
  const others: Record<string, string> = {
    hash: own.hash,
    number: '1',
    version: '1',
    month: '2026-01',
    day: '2026-01-31',
  };
  return pathParametersOf(endpoint).reduce((path, [name, { record }]) => {
    const value = record === undefined ? others[name] : (ids[record] ?? account.keyId);
    if (value === undefined) throw new Error(`nothing stands for ${name} of ${nameOf(endpoint)}`);
    return path.replace(`{${name}}`, value);
  }, endpoint.path as string);
}

/** Ask and read the answer; of a stream only its beginning. */
async function probe(
  { method }: Endpoint,
  path: string,
  { key }: Pick<SubKey, 'key'>,
): Promise<{ status: number; text: string }> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(api.publicUrl + path, { method: method.toUpperCase(), headers, redirect: 'manual' });
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel();
    return { status: response.status, text: '' };
  }
  return { status: response.status, text: await response.text() };
}

it('of what is not on a surface, only what is known is open to sub-keys', () => {
  const beyond = scoped.filter((endpoint) => isOpen(endpoint) && endpoint.access.by !== 'surface');
  expect(beyond.map(nameOf)).toEqual(BEYOND_SURFACES);
});

it.each(named(scoped.filter((endpoint) => !isOpen(endpoint))))(
  '%s is refused to a sub-key',
  async (_name, endpoint) => {
    const { status, text } = await probe(endpoint, pathOf(endpoint, records), ada);
    expect(status).toBe(403);
    if (endpoint.method !== 'head') expect(text).toContain(`user=${OWNER}`);
  },
);

it.each(named(scoped.filter(isOpen)))("%s shows a sub-key nothing of another one's", async (_name, endpoint) => {
  const path = pathOf(endpoint, records);
  const { status, text } = await probe(endpoint, path, bob);
  expect([401, 500]).not.toContain(status);
  if (/\{(id|hash)\}/.test(endpoint.path)) expect(status).toBe(404);
  // An answer may repeat the id that was asked for.
  for (const trace of [OWNER, ...Object.values(records as unknown as Record<string, string>)]) {
    if (!path.includes(trace)) expect(text).not.toContain(trace);
  }
});

/** Make a job one that was answered with another one's outputs, as only the account itself can have it done. */
async function answerWith(jobId: string, sourceId: string): Promise<void> {
  await bob.client.call('POST', `/api/v2/jobs/${jobId}/cancel`);
  await api.test.database.transaction(async (tx) => {
    await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
    await tx.execute(Prisma.sql`
      UPDATE jobs SET status = 'succeeded', attempt = 0, held_micros = 0, billable_ms = 0, reused_from = ${sourceId}::uuid WHERE id = ${jobId}::uuid`);
  });
}

const ofOneJob = scoped.filter(
  (endpoint) => isOpen(endpoint) && pathParametersOf(endpoint).some(([, { record }]) => record === 'job'),
);
const ofJobs = scoped.filter(({ method, path }) => method === 'get' && path === '/api/v2/jobs');

it.each(named([...ofOneJob, ...ofJobs]))(
  '%s names no job of another sub-key whose outputs an own one was answered with',
  async (_name, endpoint) => {
    const own = await makeSubKeyRecords(bob, `what bob uploaded for ${nameOf(endpoint)}`);
    await bob.client.call('DELETE', `/api/v2/uploads/${own.uploadId}`);
    await answerWith(own.jobId, records.jobId);
    const path = pathOf(endpoint, own);
    const { text } = await probe(endpoint, path, bob);
    expect(text).not.toContain(records.jobId);
    if (![`/api/v2/jobs/${own.jobId}`, '/api/v2/jobs'].includes(path)) return;
    expect(text).toContain('"reused_from":null');
    // The account itself finds both.
    expect((await probe(endpoint, path, account)).text).toContain(`"reused_from":"${records.jobId}"`);
  },
);

it.each(named(scoped.filter(isOpen)))('%s serves a sub-key what is its own', async (_name, endpoint) => {
  const own = await makeSubKeyRecords(ada, `what ada uploaded for ${nameOf(endpoint)}`);
  const { status } = await probe(endpoint, pathOf(endpoint, own), ada);
  expect([401, 403, 404, 500]).not.toContain(status);
  // An account may have few uploads open.
  await ada.client.call('DELETE', `/api/v2/uploads/${own.uploadId}`);
});
