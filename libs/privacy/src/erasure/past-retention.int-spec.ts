import { Prisma } from '@prisma/client';
import { BookErasureStore } from '@millrace/billing';
import { newId, type ErasureSubject } from '@millrace/contracts';
import { JobEraser, JobErasureStore } from '@millrace/jobs';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { WebhookErasureStore } from '@millrace/webhooks';
import type { ErasureLease } from './erasure';
import { ErasureSteps, type Erasers } from './erasure-steps';

/** More than a page of any step. */
const MANY = 2_500;

let test: TestDatabase;
let accountId: string;
let endpointId: string;
let steps: ErasureSteps;
beforeAll(async () => {
  test = await createTestDatabase();
  const unused = undefined as never;
  const jobs = new JobEraser(test.database, new JobErasureStore(), unused, unused, unused);
  const parts = { jobs, webhooks: new WebhookErasureStore(), books: new BookErasureStore() };
  steps = new ErasureSteps(parts as unknown as Erasers);
});
beforeEach(async () => {
  accountId = await makeAccount(test.database);
  endpointId = newId();
  const receiver = { url: 'https://ada.example.com/', origin: 'https://ada.example.com', eventTypes: ['job.failed'] };
  await test.database.models.webhookEndpoint.create({ data: { id: endpointId, accountId, ...receiver } });
});
afterAll(() => test.drop());

/** What is left of jobs past their retention: what they cost, a message, and the key of the request that made them. @returns their ids. */
async function sweptJobs(labels: Record<string, string>, count = 1): Promise<string[]> {
  const rows = await test.database.rows<{ id: string }>(Prisma.sql`
    WITH job AS (SELECT gen_random_uuid() AS id FROM generate_series(1, ${count}::int)),
    usage AS (
      INSERT INTO usage_records (job_id, account_id, status, billable_ms, charged_micros, labels, finished_at)
      SELECT id, ${accountId}::uuid, 'succeeded', 0, 0, ${JSON.stringify(labels)}::jsonb, now() FROM job),
    message AS (
      INSERT INTO webhook_messages (endpoint_id, type, job_id) SELECT ${endpointId}::uuid, 'job.succeeded', id FROM job),
    claimed AS (
      INSERT INTO idempotency_keys (account_id, operation, key, subject_id, expires_at)
      SELECT ${accountId}::uuid, 'postJobs', 'of ada ' || id, id, now() + interval '1 day' FROM job)
    SELECT id FROM job`);
  return rows.map(({ id }) => id);
}

/** Has jobs be there that usage is recorded of: they were submitted with the label after its jobs were erased, and ended before its usage was. */
async function bringBack(jobIds: readonly string[]): Promise<void> {
  const { poolId } = await makePool(test.database);
  await test.database.models.accountQueue.create({ data: { poolId, accountId, runningLimit: 1 } });
  await test.database.execute(Prisma.sql`
    INSERT INTO jobs (id, account_id, pool_id, surface, status, delivery, max_attempts, deadline_at, expires_at, completed_at, charged_micros)
    SELECT id, ${accountId}::uuid, ${poolId}, 'cloud', 'canceled', 'done', 1, now(), now(), now(), 0 FROM unnest(${[...jobIds]}::uuid[]) id`);
}

async function erase(subject: ErasureSubject, ...names: string[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of names) {
    for (let next = 'again', place: string | null = null; next === 'again';) {
      const lease = { id: newId(), accountId, subject, pseudonym: 'erased-1', place };
      const done = await steps.run(name, lease as unknown as ErasureLease);
      const outcome = typeof done === 'function' ? await test.database.transaction(done) : done;
      for (const [kind, count] of Object.entries(outcome.counts ?? {})) counts[kind] = (counts[kind] ?? 0) + count;
      [next, place] = [outcome.next, outcome.place ?? null];
    }
  }
  return counts;
}

const left = async (): Promise<{ messages: (string | null)[]; keys: string[] }> => {
  const messages = await test.database.models.webhookMessage.findMany({ where: { endpointId } });
  const keys = await test.database.rows<{ id: string }>(Prisma.sql`
    SELECT subject_id AS id FROM idempotency_keys WHERE account_id = ${accountId}::uuid`);
  return { messages: messages.map(({ jobId }) => jobId), keys: keys.map(({ id }) => id) };
};

it('messages and keys of jobs past their retention go with the label that the jobs had', async () => {
  await sweptJobs({ user: 'ada', plan: 'pro' }, MANY);
  const bobs = await sweptJobs({ user: 'bob' });
  const counts = await erase({ kind: 'label', label: 'user', value: 'ada' }, 'usage');
  expect(counts).toEqual({ usage_records: MANY, webhook_messages: MANY });
  expect(await left()).toEqual({ messages: bobs, keys: bobs });
});

it('a job that came after the erasure of its label keeps its messages and the key of its request', async () => {
  await sweptJobs({ user: 'ada' });
  const later = await sweptJobs({ user: 'ada' });
  await bringBack(later);
  const counts = await erase({ kind: 'label', label: 'user', value: 'ada' }, 'usage');
  expect(counts).toEqual({ usage_records: 2, webhook_messages: 1 });
  expect(await left()).toEqual({ messages: later, keys: later });
});

it('messages and keys of a job past its retention go with it, whether or not it had labels', async () => {
  const [jobId = ''] = await sweptJobs({});
  const others = await sweptJobs({});
  expect(await erase({ kind: 'job', jobId }, 'usage')).toEqual({ usage_records: 0, webhook_messages: 1 });
  expect(await left()).toEqual({ messages: others, keys: others });
});

it('all messages and keys of an account go with it, also those of what it has deleted', async () => {
  await sweptJobs({}, MANY);
  await test.database.execute(Prisma.sql`
    INSERT INTO idempotency_keys (account_id, operation, key, subject_id, expires_at)
    VALUES (${accountId}::uuid, 'postAssets', 'of an upload of ada', gen_random_uuid(), now() + interval '1 day')`);
  await erase({ kind: 'account' }, 'messages');
  expect(await left()).toEqual({ messages: [], keys: [] });
});
