import { z } from 'zod';
import { newId, type Job } from '@millrace/contracts';
import type { ApiClient } from '@millrace/testing';
import { AdminModule } from './admin.module';
import { endpointsOfModule, type Endpoint } from './endpoints';
import { failJob } from './fixtures/job-ends';
import { GRAPH, announceCatalogue } from './fixtures/own-records';
import { RunningApi, type TestAccount } from './fixtures/running-api';

/** Fields in which there is what a customer sent or made. */
const OF_CUSTOMERS = [
  'workflow',
  'graph',
  'metadata',
  'inputs',
  'outputs',
  'error',
  'logs',
  'secret',
]; /** Fields with anything in them that the service wrote: what an act was, and what an audit found. */
const OF_THE_SERVICE = ['details'];

interface Entry {
  action: string;
  actor: string;
  reason: string | null;
  subject_id: string;
}

const operated = endpointsOfModule(AdminModule).filter(({ access }) => access.by === 'operator');
const declared = operated.filter(({ readsCustomer }) => readsCustomer === true);

let api: RunningApi;
let account: TestAccount;
let owner: ApiClient;
let reader: ApiClient;
let jobId: string;
beforeAll(async () => {
  api = await RunningApi.open();
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
});
beforeEach(async () => {
  account = await api.account();
  owner = api.client(account.key);
  ({ id: jobId } = await owner.run(GRAPH));
  await failJob(api, jobId, newId());
  const draft = { json: { name: `reader-${account.id.slice(-12)}`, role: 'admin' } };
  const { body } = await api.operator().call<{ token: string }>('POST', '/admin/v1/operator-tokens', draft);
  reader = api.operator(body.token);
});
afterAll(() => api.close());

/** Fields of an answer with what customers sent or made, at any depth: by name, and those that may have anything in them, such as a graph. */
function contentOf({ answers }: Endpoint): string[] {
  const found = new Set<string>();
  const walk = (schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null) return;
    if ('properties' in schema) {
      for (const [name, field] of Object.entries(schema.properties as object))
        if (OF_CUSTOMERS.includes(name) || (isOpen(field) && !OF_THE_SERVICE.includes(name))) found.add(name);
    }
    Object.values(schema).forEach(walk);
  };
  for (const { schema } of Object.values(answers))
    if (schema !== undefined) walk(z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }));
  return [...found];
}

/** Whether a field takes an object with any fields. */
const isOpen = (field: unknown): boolean => /"additionalProperties":\{\}/.test(JSON.stringify(field));

it('an answer to operators with what customers sent or made is declared to be one', () => {
  const undeclared = operated
    .filter((endpoint) => !declared.includes(endpoint))
    .map((endpoint) => [endpoint.id, contentOf(endpoint)] as const)
    .filter(([, fields]) => fields.length > 0);
  expect(undeclared).toEqual([]);
  expect(declared.map(({ id }) => id).sort()).toEqual(['exportAnAccount', 'listFailures', 'readJob']);
});

it.each(declared.map((endpoint) => [endpoint.id, endpoint] as const))(
  '%s is an entry in the log that the customer reads, with the reason, once for many readings at a time',
  async (_id, endpoint) => {
    const path = endpoint.path.replace('{id}', endpoint.params?.id?.record === 'job' ? jobId : account.id);
    const headers = { 'Millrace-Reason': 'ticket 4711' };
    const answers = await Promise.all(Array.from({ length: 8 }, () => reader.call('GET', path, { headers })));
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    const { body } = await owner.call<{ entries: Entry[] }>('GET', '/platform/v1/audit?actor=operator');
    const seen = body.entries.filter(({ reason }) => reason === 'ticket 4711');
    expect(seen).toMatchObject([{ actor: 'operator', subject_id: path.includes(jobId) ? jobId : account.id }]);
    expect(JSON.stringify(seen)).not.toContain('reader-');
  },
);

it('a reading of failed jobs is in the log of those alone who have one on the page', async () => {
  const other = await api.account();
  await reader.call<{ failures: Job[] }>('GET', '/admin/v1/failures', { headers: { 'Millrace-Reason': 'a look' } });
  const { body } = await api.client(other.key).call<{ entries: Entry[] }>('GET', '/platform/v1/audit?actor=operator');
  expect(body.entries.filter(({ action }) => action === 'job.list_failures')).toEqual([]);
});
