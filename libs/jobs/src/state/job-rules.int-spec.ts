import { Prisma } from '@prisma/client';
import { ConstraintError } from '@millrace/database';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { JobWorld } from '../fixtures/job-world';

let test: TestDatabase;
let world: JobWorld;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
});
afterAll(() => test.drop());

/** What breaks a rule of a job that waits for its first attempt, by the name of the rule. */
const BROKEN: [string, Prisma.Sql][] = [
  ['jobs_status_check', Prisma.sql`status = 'gone', seq = seq + 1`],
  ['jobs_delivery_check', Prisma.sql`delivery = 'sent'`],
  ['jobs_done_check', Prisma.sql`delivery = 'done', completed_at = now(), charged_micros = 0`],
  ['jobs_done_check', Prisma.sql`status = 'canceled', seq = seq + 1`],
  ['jobs_completed_check', Prisma.sql`completed_at = now()`],
  ['jobs_attempt_check', Prisma.sql`attempt = max_attempts + 1, started_at = now()`],
  ['jobs_attempt_check', Prisma.sql`started_at = now()`],
  ['jobs_attempt_check', Prisma.sql`attempt = 1, started_at = now()`],
  ['jobs_attempt_check', Prisma.sql`status = 'running', seq = seq + 1`],
  ['jobs_lease_check', Prisma.sql`delivery = 'leased'`],
  ['jobs_lease_check', Prisma.sql`lease_token = gen_random_uuid()`],
  ['jobs_lease_check', Prisma.sql`delivery = 'leased', lease_token = gen_random_uuid(), lease_expires_at = now()`],
  ['jobs_money_check', Prisma.sql`price_micros_per_second = -1`],
  ['jobs_money_check', Prisma.sql`held_micros = -1`],
  ['jobs_money_check', Prisma.sql`billable_ms = -1`],
  ['jobs_money_check', Prisma.sql`charged_micros = 0`],
  [
    'jobs_money_check',
    Prisma.sql`status = 'canceled', delivery = 'done', seq = seq + 1, completed_at = now(), charged_micros = held_micros + 1`,
  ],
  [
    'jobs_money_check',
    Prisma.sql`status = 'canceled', delivery = 'done', seq = seq + 1, completed_at = now(), charged_micros = -1`,
  ],
  ['jobs_engine_ms_check', Prisma.sql`engine_ms = -1`],
  ['jobs_lost_engine_ms_check', Prisma.sql`lost_engine_ms = -1`],
  ['jobs_error_check', Prisma.sql`error = '{}'`],
  ['jobs_retries_check', Prisma.sql`retries = -1`],
  ['jobs_retries_check', Prisma.sql`retries = retry_max + 1`],
  ['jobs_retries_check', Prisma.sql`delivery = 'paused'`],
  ['jobs_reuse_check', Prisma.sql`reused_from = id`],
  ['jobs_surface_check', Prisma.sql`surface = 'elsewhere'`],
  ['jobs_surface_check', Prisma.sql`surface = 'deployment'`],
  ['jobs_surface_check', Prisma.sql`deployment_id = gen_random_uuid()`],
  ['jobs_deadline_check', Prisma.sql`deadline_at = expires_at + interval '1 second'`],
];

describe('the rules of a job', () => {
  it('are kept by the database, which names the one that a statement would break', async () => {
    const { id } = await world.submit();
    for (const [rule, change] of BROKEN) {
      const update = test.database.execute(Prisma.sql`UPDATE jobs SET ${change} WHERE id = ${id}::uuid`);
      await expect(update).rejects.toEqual(new ConstraintError('check', rule));
    }
  });

  it('are each broken by one of these', async () => {
    const [source] = await test.database.rows<{ text: string }>(Prisma.sql`
      SELECT pg_get_functiondef('keeps_rules(jobs)'::regprocedure) AS text`);
    const rules = [...(source?.text ?? '').matchAll(/'(jobs_\w+_check)'/g)].map(([, rule]) => rule);
    expect(new Set(BROKEN.map(([rule]) => rule))).toEqual(new Set(rules));
  });

  it('hold for the lines of its history: only the first comes from nothing', async () => {
    const { id } = await world.submit();
    const insert = test.database.execute(Prisma.sql`
      INSERT INTO job_transitions (job_id, seq, from_status, to_status, attempt, cause)
      VALUES (${id}::uuid, 2, NULL, 'queued', 0, 'probe')`);
    await expect(insert).rejects.toEqual(new ConstraintError('check', 'job_transitions_seq_check'));
  });
});

describe('the tables that every job writes', () => {
  /** PostgreSQL reads the text of each CHECK again in every statement that writes a row: about 5 µs for a thousand characters. */
  const MOST_CHARACTERS = 3_000;

  it('have no CHECKs that take long to read', async () => {
    const tables = await test.database.rows<{ name: string; characters: number }>(Prisma.sql`
      SELECT conrelid::regclass::text AS name, sum(length(conbin::text))::int AS characters FROM pg_constraint
      WHERE contype = 'c' AND conrelid IN (
        'jobs'::regclass, 'job_attempts'::regclass, 'job_outputs'::regclass, 'job_transitions'::regclass, 'account_queues'::regclass,
        'balances'::regclass, 'blobs'::regclass, 'credit_lots'::regclass, 'idempotency_keys'::regclass, 'ledger_entries'::regclass,
        'ledger_transactions'::regclass, 'usage_records'::regclass, 'workers'::regclass)
      GROUP BY conrelid`);
    expect(tables.length).toBeGreaterThan(0);
    expect(tables.filter(({ characters }) => characters > MOST_CHARACTERS)).toEqual([]);
  });

  it('have no triggers whose conditions take long to read', async () => {
    const triggers = await test.database.rows<{ name: string }>(Prisma.sql`
      SELECT tgname::text AS name FROM pg_trigger
      WHERE tgrelid IN ('jobs'::regclass, 'balances'::regclass, 'account_queues'::regclass) AND length(tgqual::text) > 1000`);
    expect(triggers).toEqual([]);
  });
});
