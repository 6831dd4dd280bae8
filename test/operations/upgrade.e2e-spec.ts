import { Prisma } from '@prisma/client';
import { newId, type Job } from '@millrace/contracts';
import { ApiClient, TestStack, eventually, type TestAccount } from '@millrace/testing';
/** What a migration of the next version may do to every table, and a table of its own; one more is not finished. */
const NEXT_VERSION = `
  DO $$
  DECLARE name text;
  BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations' LOOP
      EXECUTE format('ALTER TABLE %I ADD COLUMN next_note text', name);
      EXECUTE format('ALTER TABLE %I ADD COLUMN next_count bigint NOT NULL DEFAULT 0 CHECK (next_count >= 0)', name);
    END LOOP;
    CREATE TABLE next_things (id uuid PRIMARY KEY, job_id uuid NOT NULL REFERENCES jobs (id) ON DELETE CASCADE);
    INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
    VALUES (gen_random_uuid()::text, 'of the next version', '29990101000000_next', now(), now(), 1);
    INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES (gen_random_uuid()::text, 'half done', '29990102000000_index');
  END $$`;

/** As migrations are: again, where what runs beside it held what it needs. */
async function migrate(): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await stack.test.database.execute(Prisma.raw(NEXT_VERSION));
      return;
    } catch (error) {
      if (tries >= 10 || !(error instanceof Error && error.message === 'deadlock detected')) throw error;
    }
  }
}

const growing = (steps: number): object => ({
  '1': {
    class_type: 'MillraceReactionDiffusion',
    inputs: { width: 128, height: 128, steps, seed: 1, feed: 0.055, kill: 0.062 },
  },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'grown' } },
});

let stack: TestStack;
let account: TestAccount;
let client: ApiClient;
beforeAll(async () => {
  stack = await TestStack.start();
  account = await stack.createAccount();
  client = new ApiClient(stack.publicUrl, account.apiKey);
});
afterAll(() => stack.stop());

/** Everything that a client does with a job, so that every process has its statements prepared. */
async function goRound(): Promise<Job> {
  const { status, body: asset } = await client.upload(Buffer.from(newId()), {
    content_type: 'text/plain',
    file_path: 'a.txt',
  });
  expect(status).toBe(201);
  const { id } = await client.run({
    '1': { class_type: 'PrimitiveInt', inputs: { value: 7 } },
    '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
  });
  const job = await client.ended(id);
  for (const path of ['/api/v2/jobs', `/api/v2/jobs/${id}/workflow`, `/api/v2/assets/${asset.id}`]) {
    expect(await client.call('GET', path)).toMatchObject({ status: 200 });
  }
  expect((await client.call('DELETE', `/api/v2/assets/${asset.id}`)).status).toBeLessThan(300);
  const { id: canceled } = await client.run(growing(100_000));
  await client.call('POST', `/api/v2/jobs/${canceled}/cancel`);
  expect((await client.ended(canceled)).status).toBe('canceled');
  return job;
}

describe('when the next version has migrated the database under processes of this one', () => {
  it('they go on: a job that was running succeeds, and so does all that is asked after it', async () => {
    expect((await goRound()).status).toBe('succeeded');
    const running = await client.run(growing(3_000));
    await eventually('the job to run', async () => (await client.job(running.id)).status === 'running');
    await migrate();
    expect((await client.ended(running.id)).status).toBe('succeeded');
    expect((await goRound()).status).toBe('succeeded');
    const attempts = await stack.test.database.query<{ attempts: number }>(
      Prisma.sql`SELECT attempt AS attempts FROM jobs WHERE id = ${running.id}::uuid`,
    );
    expect(attempts).toEqual([{ attempts: 1 }]);
  });

  it('they can be started again on it, and rescue the work of one another', async () => {
    const { id } = await client.run(growing(6_000));
    await eventually('the job to run', async () => (await client.job(id)).status === 'running');
    await stack.workers[0]?.end();
    await stack.addWorker();
    const maintenance = stack.maintenance;
    stack.maintenance = await stack.spawn('maintenance');
    await maintenance.end('SIGTERM');
    expect((await client.ended(id)).status).toBe('succeeded');
  });

  it('keep books that add up', async () => {
    expect(await stack.admin('GET', '/audit')).toMatchObject({ ok: true });
  });
});
