import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { createTestDatabase, makeAccount, type TestDatabase } from '@millrace/testing';
import { JobWorld, cloudScope, endingOf, type TestDraft } from '../fixtures/job-world';
import { nodesOf, type PlanNode } from '../fixtures/plans';
import { canceledEnding, deadlinePassed, attemptsUsedUp } from '../lifecycle/job-ending';
import { requestCancel } from '../lifecycle/cancel.store';
import { endJob } from '../lifecycle/end.store';

let test: TestDatabase;
let world: JobWorld;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
});
afterAll(() => test.drop());

/** A job of an account that wants to know every end. */
async function submitted(): Promise<TestDraft> {
  const draft = await world.submit({ accountId: await makeAccount(test.database, { micros: 1_000_000n }) });
  const { accountId } = draft;
  const endpoint = { url: 'https://receiver.example.com/', origin: 'https://api.example.com' };
  const eventTypes = ['job.succeeded', 'job.failed', 'job.canceled', 'job.expired'];
  await test.database.models.webhookEndpoint.create({ data: { id: newId(), accountId, eventTypes, ...endpoint } });
  return draft;
}
const messagesOf = async (jobId: string): Promise<string[]> =>
  (await test.database.models.webhookMessage.findMany({ where: { jobId } })).map(({ type }) => type);

describe('an end of a job is a message to its account, once:', () => {
  it('the result of its worker', async () => {
    for (const [ending, type] of [
      ['succeeded', 'job.succeeded'],
      ['node_failed', 'job.failed'],
    ] as const) {
      const job = await submitted();
      const fence = await world.start(job);
      expect(await messagesOf(job.id)).toEqual([]);
      await world.end(fence, endingOf(ending));
      await world.end(fence, endingOf(ending));
      expect(await messagesOf(job.id)).toEqual([type]);
    }
  });

  it('a result that comes after the request to cancel', async () => {
    const job = await submitted();
    const fence = await world.start(job);
    await requestCancel(test.database, cloudScope(job.accountId), job.id);
    expect(await messagesOf(job.id)).toEqual([]);
    await world.end(fence);
    expect(await messagesOf(job.id)).toEqual(['job.canceled']);
  });

  it('a cancellation before the start', async () => {
    const job = await submitted();
    const guard = { kind: 'queued', scope: cloudScope(job.accountId), jobId: job.id } as const;
    await endJob(test.database, guard, canceledEnding('canceled_while_queued'));
    expect(await messagesOf(job.id)).toEqual(['job.canceled']);
  });

  it('its deadline', async () => {
    const job = await submitted();
    await world.passDeadline(job.id);
    await endJob(test.database, { kind: 'overdue', jobId: job.id }, deadlinePassed);
    expect(await messagesOf(job.id)).toEqual(['job.expired']);
  });

  it('the loss of its last worker', async () => {
    const job = await submitted();
    await world.start(job);
    await test.database.execute(Prisma.sql`UPDATE jobs SET max_attempts = attempt WHERE id = ${job.id}::uuid`);
    await world.passLease(job.id);
    await endJob(test.database, { kind: 'lost_for_good', jobId: job.id }, attemptsUsedUp);
    expect(await messagesOf(job.id)).toEqual(['job.failed']);
  });
});

it('an end that is undone leaves no message', async () => {
  const job = await submitted();
  const fence = await world.start(job);
  const undone = test.database.transaction(async (tx) => {
    await world.end(fence, endingOf('succeeded'), tx);
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect(await messagesOf(job.id)).toEqual([]);
});

it('an end looks for the endpoints of its account alone, however many there are', async () => {
  const job = await submitted();
  const fence = await world.start(job);
  await test.database.transaction(async (tx) => {
    await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
    await tx.execute(Prisma.sql`
      INSERT INTO webhook_endpoints (id, account_id, url, event_types, origin)
      SELECT gen_random_uuid(), gen_random_uuid(), 'https://receiver.example.com/', '{job.succeeded}', 'https://api.example.com'
      FROM generate_series(1, 100000)`);
    await tx.execute(Prisma.sql`ANALYZE webhook_endpoints`);
  });
  const sent: Prisma.Sql[] = [];
  const query = (sql: Prisma.Sql): Promise<never[]> => {
    sent.push(sql);
    return Promise.resolve([]);
  };
  const statements = { query, rows: query, execute: () => Promise.resolve(0), models: test.database.models };
  await endJob(statements, { kind: 'fence', fence }, endingOf('succeeded'));
  const [row] = await test.database.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
    Prisma.sql`EXPLAIN (ANALYZE, FORMAT JSON) ${sent[0] ?? Prisma.empty}`,
  );
  const readings = (row?.['QUERY PLAN'] ?? [])
    .flatMap(({ Plan }) => nodesOf(Plan))
    .filter((node) => node['Relation Name'] === 'webhook_endpoints');
  expect(readings.map((node) => [node['Index Name'], node['Actual Rows'] * node['Actual Loops']])).toEqual([
    ['webhook_endpoints_account_idx', 1],
  ]);
  expect(await messagesOf(job.id)).toEqual(['job.succeeded']);
});
