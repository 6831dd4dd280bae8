import { Comfy, type Job as ClientJob } from '@comfyorg/sdk';
import { Prisma } from '@prisma/client';
import type { BatchView, ErrorEnvelope, Job } from '@millrace/contracts';
import { ApiClient, TestStack, eventually, onOneDay, type TestAccount } from '@millrace/testing';

/*
 * Limits by label on a stack that runs: what a rule refuses a user of the account, and that it refuses no other. The official client
 * has the key that a partner hands out.
 */

const RULES = '/platform/v1/label-rules';
const picture = (color: number): object => ({
  '1': { class_type: 'EmptyImage', inputs: { width: 16, height: 16, batch_size: 1, color } },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'a' } },
});
const long = {
  '1': {
    class_type: 'MillraceReactionDiffusion',
    inputs: { width: 512, height: 512, steps: 100_000, seed: 1, feed: 0.055, kill: 0.062 },
  },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'a' } },
};

interface User {
  api: ApiClient;
  official: Comfy;
}

let stack: TestStack;
let account: TestAccount;
let owner: ApiClient;
beforeAll(async () => {
  stack = await TestStack.start({ workers: 2 });
  process.env.COMFY_BASE_URL = stack.publicUrl;
});
beforeEach(() => onOneDay());
beforeEach(async () => {
  account = await stack.createAccount();
  owner = new ApiClient(stack.publicUrl, account.apiKey);
});
afterAll(() => stack.stop());

async function rule(limits: object): Promise<void> {
  expect((await owner.call('PUT', RULES, { json: { label: 'user', ...limits } })).status).toBe(200);
}

/** Someone whom the account serves, with a key whose jobs carry the user's name. */
async function user(name: string): Promise<User> {
  const json = { name, labels: { user: name } };
  const { body } = await owner.call<{ key: string }>('POST', '/platform/v1/api-keys', { json });
  return { api: new ApiClient(stack.publicUrl, body.key), official: new Comfy({ apiKey: body.key }) };
}

const submit = ({ official }: User, graph: object): Promise<ClientJob> =>
  official.submit(official.workflows.fromJson(graph as Parameters<typeof official.workflows.fromJson>[0]));
const refusalOf = async ({ api }: User): Promise<unknown> => {
  const { status, headers, body } = await api.call<ErrorEnvelope>('POST', '/api/v2/jobs', {
    json: { workflow: picture(1) },
  });
  return [status, body.error?.code, body.error?.details, headers['retry-after'] !== undefined];
};

describe('how many jobs a user may have', () => {
  it('refuses the next until one has ended, and the official client then has its job', async () => {
    await rule({ max_jobs: 1 });
    const [ada, bob] = [await user('ada'), await user('bob')];
    const running = await submit(ada, long);
    await eventually('it to run', async () => (await running.refresh()).status === 'running');
    const details = { label: 'user', value: 'ada', limit: 'max_jobs', most: 1 };
    expect(await refusalOf(ada)).toEqual([429, 'label_limit', details, true]);
    // Each value counts by itself, and so do the jobs of the account.
    expect((await (await submit(bob, picture(2))).wait(240_000)).status).toBe('succeeded');
    expect((await owner.submit(JSON.stringify({ workflow: picture(3) }))).status).toBe(201);
    const waiting = submit(ada, picture(4));
    waiting.catch(() => undefined);
    await running.cancel();
    expect((await (await waiting).wait(240_000)).status).toBe('succeeded');
    expect((await owner.call('GET', '/platform/v1/label-use?label=user&value=ada')).body).toMatchObject({ jobs: 0 });
  });

  it('holds for jobs that the account labels itself, and refuses a batch as a whole', async () => {
    await rule({ value: 'ada', max_jobs: 2 });
    const jobs = [1, 2, 3].map((color) => ({ workflow: picture(color), metadata: { user: 'ada' } }));
    const refused = await owner.call<ErrorEnvelope>('POST', '/api/v2/batches', { json: { jobs } });
    expect([refused.status, refused.body.error.code]).toEqual([429, 'label_limit']);
    const { body } = await owner.call<{ jobs: Job[] }>('GET', '/api/v2/jobs');
    expect(body.jobs).toEqual([]);
    const batch = await owner.call<BatchView>('POST', '/api/v2/batches', { json: { jobs: jobs.slice(0, 2) } });
    expect(batch.status).toBe(201);
  });
});

describe('what a user may spend', () => {
  it('refuses what does not fit into the day, before it runs, and nobody else', async () => {
    await rule({ value: 'ada', daily_micros: 0 });
    const [ada, bob] = [await user('ada'), await user('bob')];
    const details = { label: 'user', value: 'ada', limit: 'daily_micros', most: 0 };
    expect(await refusalOf(ada)).toEqual([402, 'label_spend_limit', details, false]);
    await expect(submit(ada, picture(1))).rejects.toThrow(/cost 0 credits a day/);
    expect((await (await submit(bob, picture(2))).wait(240_000)).status).toBe('succeeded');
    expect((await owner.call('GET', '/platform/v1/credits')).body).toMatchObject({ held_micros: 0 });
  });

  it('counts what is charged and held, and refuses the job that would go beyond it', async () => {
    const [ada, estimate] = [
      await user('ada'),
      await owner.call<{ hold_micros: number }>('POST', '/platform/v1/estimates', { json: { workflow: picture(1) } }),
    ];
    const hold = estimate.body.hold_micros;
    await rule({ value: 'ada', monthly_micros: hold });
    expect((await (await submit(ada, picture(1))).wait(240_000)).status).toBe('succeeded');
    const { body: use } = await owner.call<{ month_micros: number }>(
      'GET',
      '/platform/v1/label-use?label=user&value=ada',
    );
    // What it was charged leaves less than the next would hold.
    expect(use.month_micros).toBeGreaterThan(0);
    const details = { label: 'user', value: 'ada', limit: 'monthly_micros', most: hold };
    expect(await refusalOf(ada)).toEqual([402, 'label_spend_limit', details, false]);
    await rule({ value: 'ada', monthly_micros: 2 * hold });
    expect((await (await submit(ada, picture(2))).wait(240_000)).status).toBe('succeeded');
  });
});

describe('how long what a user made is kept', () => {
  const HOUR_SECONDS = 3_600;
  const keptSeconds = (job: { createdAt: Date; expiresAt: Date }): number =>
    Math.round((job.expiresAt.getTime() - job.createdAt.getTime()) / 1_000);
  /** As if so much time had passed for jobs and assets, whose ends nothing else moves. */
  const pass = (seconds: number): Promise<void> =>
    stack.test.database.transaction(async (tx) => {
      await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
      const earlier = (column: Prisma.Sql): Prisma.Sql => Prisma.sql`${column} - make_interval(secs => ${seconds})`;
      const ends = Prisma.sql`expires_at = ${earlier(Prisma.sql`expires_at`)}`;
      const own = Prisma.sql`account_id = ${account.id}::uuid`;
      await tx.execute(Prisma.sql`
        UPDATE jobs SET ${ends}, created_at = ${earlier(Prisma.sql`created_at`)}, deadline_at = ${earlier(Prisma.sql`deadline_at`)}
        WHERE ${own}`);
      await tx.execute(Prisma.sql`UPDATE assets SET ${ends} WHERE ${own}`);
    });

  it('ends with the time of the rule: job, graph and output are gone, usage stays, and nobody else loses anything', async () => {
    await rule({ value: 'ada', retention_seconds: HOUR_SECONDS });
    const [ada, bob] = [await user('ada'), await user('bob')];
    const [short, long] = [await submit(ada, picture(1)), await submit(bob, picture(2))];
    for (const job of [short, long]) expect((await job.wait(240_000)).status).toBe('succeeded');
    const { models } = stack.test.database;
    const kept = async (id: string): Promise<number> =>
      keptSeconds(await models.job.findUniqueOrThrow({ where: { id } }));
    expect(await kept(short.id)).toBe(HOUR_SECONDS);
    expect(await kept(long.id)).toBeGreaterThan(HOUR_SECONDS);
    const [output] = short.outputs;
    if (output === undefined) throw new Error('there is no output');
    await pass(HOUR_SECONDS + 1);
    const isGone = async (path: string): Promise<boolean> => (await ada.api.call('GET', path)).status === 404;
    await eventually('the job to be gone', () => isGone(`/api/v2/jobs/${short.id}`));
    await eventually('the output to be gone', () => isGone(`/api/v2/assets/${output.id}`));
    // They are not shown from that moment on, and maintenance deletes them some seconds later.
    const left = async (): Promise<number> =>
      (await models.job.count({ where: { id: short.id } })) +
      (await models.jobGraph.count({ where: { jobId: short.id } })) +
      (await models.asset.count({ where: { jobId: short.id } }));
    await eventually('all of the job to be deleted', async () => (await left()) === 0);
    const usage = await owner.call<{ usage: object[] }>('GET', '/platform/v1/usage?group_by=label:user');
    expect(usage.body.usage).toContainEqual(expect.objectContaining({ group: 'ada' }));
    expect((await bob.official.jobs.get(long.id)).status).toBe('succeeded');
    expect(Buffer.from((await long.outputs[0]?.toBytes()) ?? []).length).toBeGreaterThan(0);
  });
});
