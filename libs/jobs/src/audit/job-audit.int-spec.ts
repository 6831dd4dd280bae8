import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { OutputJobs } from '../fixtures/output-jobs';
import { JobAudit } from './job-audit';
import { JOB_CHECKS, findBreaches } from './job-audit.store';

/** A job in each place of its life, of one account in one pool. */
interface Ids {
  queued: string;
  running: string;
  /** Succeeded in its first attempt, with an output, and was charged. */
  succeeded: string;
  /** Before it had an attempt. */
  canceled: string;
  account: string;
  queue: string;
}

let test: TestDatabase;
let outputs: OutputJobs;
let ids: Ids;
beforeAll(async () => {
  test = await createTestDatabase();
  outputs = await OutputJobs.make(test);
  const { jobs } = outputs;
  await jobs.grant(10_000_000n);
  const submit = async (): Promise<string> => {
    const id = await jobs.submit(60_000n, 1_000n);
    if (id === null) throw new Error('the account has no credits');
    return id;
  };
  const start = async () => {
    const claimed = await jobs.start();
    if (claimed === null) throw new Error('nothing was there to be started');
    return claimed;
  };
  const canceled = await submit();
  await jobs.cancelQueued(canceled);
  const succeeded = await submit();
  await outputs.finish(await start(), 'an output');
  const running = await submit();
  await start();
  const queued = await submit();
  const { accountId: account, poolId } = jobs;
  ids = { canceled, succeeded, running, queued, account, queue: `${poolId}/${account}` };
});
afterAll(async () => {
  await outputs.drop();
  await test.drop();
});

/** What breaks each check, and what the breach is found on. */
const FAULTS: Record<string, [on: (ids: Ids) => string, fault: (ids: Ids) => Prisma.Sql]> = {
  'history-of-the-table': [
    (id) => id.running,
    ({ running }) =>
      Prisma.sql`UPDATE job_transitions SET from_status = 'expired' WHERE job_id = ${running}::uuid AND seq = 2`,
  ],
  'label-use-is-what-jobs-hold': [
    (id) => `${id.account} user=ann`,
    ({ account }) =>
      Prisma.sql`INSERT INTO label_use (account_id, label, value, live) VALUES (${account}::uuid, 'user', 'ann', 1)`,
  ],
  'no-cap-exceeded': [
    (id) => `${id.account} @account=`,
    ({ account }) => Prisma.sql`
      WITH job AS (UPDATE jobs SET limited_labels = ARRAY['@account'] WHERE account_id = ${account}::uuid)
      INSERT INTO label_rules (id, account_id, label, value, daily_micros, daily_at_cap, updated_at)
      VALUES (${newId()}::uuid, ${account}::uuid, '@account', '', 1, 'stop', now() - interval '1 hour')`,
  ],
  'history-unbroken': [
    (id) => id.succeeded,
    ({ succeeded }) => Prisma.sql`DELETE FROM job_transitions WHERE job_id = ${succeeded}::uuid AND seq = 2`,
  ],
  'status-is-the-last-of-the-history': [
    (id) => id.running,
    ({ running }) => Prisma.sql`UPDATE jobs SET seq = seq + 1 WHERE id = ${running}::uuid`,
  ],
  'one-end-per-job': [
    (id) => id.succeeded,
    ({ succeeded }) => Prisma.sql`
      INSERT INTO job_transitions (job_id, seq, from_status, to_status, attempt, cause)
      VALUES (${succeeded}::uuid, 4, 'running', 'failed', 1, 'a test')`,
  ],
  'attempts-without-gaps': [
    (id) => id.running,
    ({ running }) => Prisma.sql`DELETE FROM job_attempts WHERE job_id = ${running}::uuid`,
  ],
  'no-more-attempts-than-allowed': [
    (id) => id.succeeded,
    ({ succeeded }) => Prisma.sql`UPDATE jobs SET attempt = max_attempts + 1 WHERE id = ${succeeded}::uuid`,
  ],
  'one-live-lease-per-job': [
    (id) => id.succeeded,
    ({ succeeded }) =>
      Prisma.sql`UPDATE job_attempts SET ended_at = NULL, outcome = NULL WHERE job_id = ${succeeded}::uuid`,
  ],
  'canceled-before-start-never-ran': [
    (id) => id.canceled,
    ({ canceled }) => Prisma.sql`
      INSERT INTO job_attempts (job_id, attempt, worker_id) VALUES (${canceled}::uuid, 1, ${newId()}::uuid)`,
  ],
  'job-has-its-graph': [
    (id) => id.queued,
    ({ queued }) => Prisma.sql`DELETE FROM job_graphs WHERE job_id = ${queued}::uuid`,
  ],
  'key-names-one-job': [
    (id) => id.account,
    ({ account }) => Prisma.sql`
      INSERT INTO idempotency_keys (account_id, operation, key, subject_id, expires_at)
      VALUES (${account}::uuid, 'postJobs', 'a key', ${account}::uuid, now() + interval '1 hour')`,
  ],
  'counters-are-counts': [
    (id) => id.queue,
    ({ account }) => Prisma.sql`UPDATE account_queues SET waiting = waiting + 1 WHERE account_id = ${account}::uuid`,
  ],
  'turns-of-the-accounts-that-have-jobs-waiting': [
    (id) => id.queue,
    ({ account }) => Prisma.sql`DELETE FROM account_turns WHERE account_id = ${account}::uuid`,
  ],
  'no-job-before-the-head': [
    (id) => id.queued,
    ({ account }) => Prisma.sql`UPDATE account_queues SET head_id = uuidv7() WHERE account_id = ${account}::uuid`,
  ],
  'output-has-its-blob': [
    (id) => id.succeeded,
    ({ account }) => Prisma.sql`UPDATE blobs SET orphaned_at = now() WHERE account_id = ${account}::uuid`,
  ],
  'input-is-of-the-account': [
    (id) => id.queued,
    ({ queued, succeeded }) => Prisma.sql`
      WITH asset AS (UPDATE assets SET account_id = ${newId()}::uuid WHERE job_id = ${succeeded}::uuid RETURNING id)
      INSERT INTO job_inputs (job_id, asset_id) SELECT ${queued}::uuid, id FROM asset`,
  ],
  'outputs-of-one-attempt': [
    (id) => id.succeeded,
    ({ succeeded }) => Prisma.sql`UPDATE job_outputs SET attempt = 2 WHERE job_id = ${succeeded}::uuid`,
  ],
  'charge-is-what-the-ledger-has': [
    (id) => id.succeeded,
    ({ succeeded }) => Prisma.sql`
      DELETE FROM ledger_entries e USING ledger_transactions t
      WHERE t.id = e.transaction_id AND t.job_id = ${succeeded}::uuid AND e.to_book = 'revenue'`,
  ],
  'reused-jobs-are-free-and-whole': [
    (id) => id.succeeded,
    ({ succeeded, canceled }) =>
      Prisma.sql`UPDATE jobs SET reused_from = ${canceled}::uuid WHERE id = ${succeeded}::uuid`,
  ],
  'platform-faults-are-free': [
    (id) => id.succeeded,
    ({ succeeded }) => Prisma.sql`
      UPDATE jobs SET status = 'failed', error = '{"code":"worker_lost"}' WHERE id = ${succeeded}::uuid`,
  ],
  'retries-keep-their-policy': [
    (id) => id.queued,
    ({ queued }) => Prisma.sql`UPDATE jobs SET retries = 1 WHERE id = ${queued}::uuid`,
  ],
  'charge-is-what-the-table-bills': [
    (id) => id.succeeded,
    ({ succeeded }) => Prisma.sql`UPDATE jobs SET billable_ms = billable_ms + 1 WHERE id = ${succeeded}::uuid`,
  ],
};

it('finds nothing where nothing is wrong', async () => {
  const found: unknown[] = [];
  for await (const finding of new JobAudit(test.database).findings()) found.push(finding);
  expect(found).toEqual([]);
});

it.each(JOB_CHECKS)('finds what breaks %s, and only that', async (check) => {
  const [on, fault] = FAULTS[check] ?? [];
  if (on === undefined || fault === undefined) throw new Error(`no fault is known that ${check} finds`);
  const undone = new Error('undone');
  const tampered = test.database.transaction(async (tx) => {
    await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
    await tx.execute(Prisma.sql`ALTER TABLE jobs DROP CONSTRAINT jobs_rules_check`);
    await tx.execute(Prisma.sql`ALTER TABLE job_transitions DROP CONSTRAINT job_transitions_rules_check`);
    await tx.execute(fault(ids));
    const breaches = await findBreaches(tx, check, 10);
    expect(breaches.map(({ subject }) => subject)).toEqual([on(ids)]);
    throw undone;
  });
  await expect(tampered).rejects.toBe(undone);
});
