import { Comfy, type Job as ClientJob } from '@comfyorg/sdk';
import type { BatchView, ErrorEnvelope, Job } from '@millrace/contracts';
import { ApiClient, TestStack, eventually, type TestAccount } from '@millrace/testing';

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
    expect((await (await submit(bob, picture(2))).wait(60_000)).status).toBe('succeeded');
    expect((await owner.submit(JSON.stringify({ workflow: picture(3) }))).status).toBe(201);
    const waiting = submit(ada, picture(4));
    waiting.catch(() => undefined);
    await running.cancel();
    expect((await (await waiting).wait(60_000)).status).toBe('succeeded');
    expect((await owner.call('GET', '/platform/v1/label-use?label=user&value=ada')).body).toMatchObject({ jobs: 0 });
  }, 120_000);

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
    expect((await (await submit(bob, picture(2))).wait(60_000)).status).toBe('succeeded');
    expect((await owner.call('GET', '/platform/v1/credits')).body).toMatchObject({ held_micros: 0 });
  });

  it('counts what is charged and held, and refuses the job that would go beyond it', async () => {
    const [ada, estimate] = [
      await user('ada'),
      await owner.call<{ hold_micros: number }>('POST', '/platform/v1/estimates', { json: { workflow: picture(1) } }),
    ];
    const hold = estimate.body.hold_micros;
    await rule({ value: 'ada', monthly_micros: hold });
    expect((await (await submit(ada, picture(1))).wait(60_000)).status).toBe('succeeded');
    const { body: use } = await owner.call<{ month_micros: number }>(
      'GET',
      '/platform/v1/label-use?label=user&value=ada',
    );
    // What it was charged leaves less than the next would hold.
    expect(use.month_micros).toBeGreaterThan(0);
    const details = { label: 'user', value: 'ada', limit: 'monthly_micros', most: hold };
    expect(await refusalOf(ada)).toEqual([402, 'label_spend_limit', details, false]);
    await rule({ value: 'ada', monthly_micros: 2 * hold });
    expect((await (await submit(ada, picture(2))).wait(60_000)).status).toBe('succeeded');
  });
});
