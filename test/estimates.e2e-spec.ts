import { Comfy, InvalidWorkflow } from '@comfyorg/sdk';
import { newId, type Estimate, type JobPage } from '@millrace/contracts';
import { ApiClient, TestStack, eventually, type Answer, type TestAccount } from '@millrace/testing';

type Graph = Record<string, { class_type: string; inputs: Record<string, unknown> }>;

const PATH = '/platform/v1/estimates';
const growing = (seed: number): Graph => ({
  '1': {
    class_type: 'MillraceReactionDiffusion',
    inputs: { width: 128, height: 128, steps: 200, seed, feed: 0.055, kill: 0.062 },
  },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'grown' } },
});
/** Three faults in two nodes. */
const FAULTY: Graph = {
  '1': { class_type: 'EmptyImage', inputs: { width: -1, height: 'tall', batch_size: 1, color: 0 } },
  '2': { class_type: 'NoSuchNode', inputs: { images: ['1', 0] } },
};

let stack: TestStack;
let account: TestAccount;
let client: ApiClient;
/** Bodies of the submissions that the official client sent. */
let sent: string[];
beforeAll(async () => {
  stack = await TestStack.start({ workers: 1 });
});
beforeEach(async () => {
  account = await stack.createAccount();
  client = new ApiClient(stack.publicUrl, account.apiKey);
  sent = [];
  const send = globalThis.fetch;
  jest.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
    if (init?.method === 'POST' && typeof init.body === 'string' && isOfJobs(input)) sent.push(init.body);
    return send(input, init);
  });
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => stack.stop());

function isOfJobs(input: unknown): boolean {
  return new URL(input instanceof Request ? input.url : String(input)).pathname.endsWith('/api/v2/jobs');
}

function official(base = stack.publicUrl): Comfy {
  process.env.COMFY_BASE_URL = base;
  return new Comfy({ apiKey: account.apiKey });
}

/** What the service says of a body that the official client has sent. */
const estimate = (text: string | undefined, prefix = '', as = client): Promise<Answer<Estimate>> =>
  as.call<Estimate>('POST', `${prefix}${PATH}`, { text: text ?? '' });
const credits = async (): Promise<unknown> => (await client.call<unknown>('GET', '/platform/v1/credits')).body;
/** Without the links of outputs, which are made for each answer. */
const jobs = async (): Promise<unknown[]> => {
  const { body } = await client.call<JobPage>('GET', '/api/v2/jobs');
  return body.jobs.map(({ outputs, ...job }) => ({ ...job, outputs: outputs.map(({ id }) => id) }));
};

describe('the body that the official client submits', () => {
  it('is estimated from the runs before it: what it held, how long it ran and what it cost', async () => {
    const comfy = official();
    const first = await comfy.submit(comfy.workflows.fromJson(growing(1)));
    const held = await client.call<{ held_micros: number }>('GET', '/platform/v1/credits');
    await first.wait(240_000);
    const { metrics } = await client.job(first.id);
    // What it ran on its engine, which is what it is charged for; storing what it made takes longer on a slow machine.
    const { usageRecord } = stack.test.database.models;
    const ran = Number((await usageRecord.findUniqueOrThrow({ where: { jobId: first.id } })).billableMs);
    const [body] = sent;
    const [before, listed] = [await credits(), await jobs()];
    const isFirst = async (): Promise<boolean> => (await estimate(body)).body.queue_position === 1;
    await eventually('the job that has ended to be in no reading of the queue', isFirst);
    const { status, body: known } = await estimate(body);
    expect(status).toBe(200);
    expect(known).toMatchObject({ accepted: true, error: null, known_runs: 1, queue_position: 1 });
    expect([known.run_ms, ran > 0]).toEqual([{ p50: ran, p90: ran }, true]);
    expect(known.cost_micros).toEqual({ p50: metrics.charged_micros, p90: metrics.charged_micros });
    expect(held.body.held_micros === 0 || held.body.held_micros === known.hold_micros).toBe(true);
    // Another seed is the same work; nothing was recorded of either.
    expect((await estimate(body?.replace('"seed":1', '"seed":77'))).body).toMatchObject({ known_runs: 1 });
    expect((await estimate(body?.replace('"steps":200', '"steps":300'))).body).toMatchObject({
      known_runs: 0,
      run_ms: null,
      cost_micros: null,
    });
    expect([await credits(), await jobs()]).toEqual([before, listed]);
  });

  it('is refused in an estimate with every fault that its submission is refused with', async () => {
    const comfy = official();
    const refusal = await comfy.submit(comfy.workflows.fromJson(FAULTY)).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(InvalidWorkflow);
    const submitted = await client.submit(sent[0] ?? '');
    const { status, body } = await estimate(sent[0]);
    expect(status).toBe(200);
    expect(body).toMatchObject({ accepted: false, known_runs: 0, run_ms: null, queue_position: null });
    expect(body.error).toEqual((submitted.body as unknown as { error: unknown }).error);
    const faults = (body.error?.details as { node_errors: Record<string, unknown[]> }).node_errors;
    expect([faults['1']?.length, faults['2']?.length]).toEqual([2, 1]);
    expect(await jobs()).toEqual([]);
  });

  it('is not accepted where credits do not suffice, and says what it would hold', async () => {
    const comfy = official();
    await (await comfy.submit(comfy.workflows.fromJson(growing(2)))).wait(240_000);
    const poor = new ApiClient(stack.publicUrl, (await stack.createAccount(1)).apiKey);
    const { body } = await estimate(sent[0], '', poor);
    expect(body).toMatchObject({ accepted: false, error: { code: 'insufficient_credits' }, known_runs: 0 });
    expect(body.hold_micros).toBeGreaterThan(1);
  });

  it('is estimated on a deployment by the runs there, and starts no worker', async () => {
    const { models } = stack.test.database;
    const pool = await models.pool.create({ data: { id: `pool-${newId()}`, engine: 'cpu' } });
    const data = { id: newId(), accountId: account.id, name: 'a test', poolId: pool.id };
    const prefix = `/deployment/${(await models.deployment.create({ data })).id}`;
    await stack.addWorker({ MILLRACE_POOL: pool.id });
    const comfy = official(stack.publicUrl + prefix);
    await (await comfy.submit(comfy.workflows.fromJson(growing(3)))).wait(240_000);
    expect((await estimate(sent[0], prefix)).body).toMatchObject({ accepted: true, known_runs: 1 });
    expect((await estimate(sent[0])).body).toMatchObject({ accepted: true, known_runs: 0 });
    const other = new ApiClient(stack.publicUrl, (await stack.createAccount()).apiKey);
    expect((await estimate(sent[0], prefix, other)).status).toBe(404);
  });
});
