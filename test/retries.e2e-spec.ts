import { Comfy, IdempotencyKeyReuse, JobFailed } from '@comfyorg/sdk';
import { JobAudit } from '@millrace/jobs';
import { newId, type Job, type JobAttempts, type JobPage } from '@millrace/contracts';
import { ApiClient, TestStack, eventually, type TestAccount } from '@millrace/testing';

/** Its second node fails: the picture is smaller than the blur. */
const FAILING = {
  '1': { class_type: 'EmptyImage', inputs: { width: 16, height: 16, batch_size: 1, color: 1 } },
  '2': { class_type: 'ImageBlur', inputs: { image: ['1', 0], blur_radius: 20, sigma: 1 } },
  '3': { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: 'blurred' } },
};

let stack: TestStack;
let account: TestAccount;
let client: ApiClient;
beforeAll(async () => {
  stack = await TestStack.start();
  account = await stack.createAccount();
  client = new ApiClient(stack.publicUrl, account.apiKey);
});
afterAll(() => stack.stop());

async function submit(policy: string): Promise<Job> {
  const { status, body } = await client.submit(JSON.stringify({ workflow: FAILING }), { 'Millrace-Retry': policy });
  expect(status).toBe(201);
  return body;
}

const attemptsOf = async (id: string): Promise<JobAttempts> =>
  (await client.call<JobAttempts>('GET', `/api/v2/jobs/${id}/attempts`)).body;

async function findings(): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const finding of new JobAudit(stack.test.database).findings()) found.push(finding);
  return found;
}

describe('a job with a retry policy', () => {
  it('is tried again as often as it says, and is charged for each attempt', async () => {
    const { id } = await submit('max=2, on=(node_execution_error), pause=0');
    const job = await client.ended(id);
    expect(job).toMatchObject({ status: 'failed', error: { code: 'node_execution_error', node_id: '2' } });
    const { attempts, retry } = await attemptsOf(id);
    expect(retry).toMatchObject({ max: 2, used: 2, next_at: null });
    expect(attempts.map(({ number, outcome, error }) => [number, outcome, error?.code])).toEqual(
      [1, 2, 3].map((number) => [number, 'failed', 'node_execution_error']),
    );
    const engineMs = attempts.reduce((sum, attempt) => sum + (attempt.engine_ms ?? 0), 0);
    const { priceMicrosPerSecond } = await stack.test.database.models.job.findUniqueOrThrow({ where: { id } });
    const cost = (BigInt(engineMs) * priceMicrosPerSecond + 999n) / 1000n;
    expect(job.metrics.charged_micros).toBe(Number(cost));
    expect(await findings()).toEqual([]);
  });

  it('shows a job of the contract while it pauses, and ends at once when it is canceled', async () => {
    const { id } = await submit('max=1, on=(node_execution_error), pause=600');
    const paused = await eventually('the job to pause', async () => {
      const { attempts, retry } = await attemptsOf(id);
      return attempts.length === 1 && retry?.next_at !== null ? retry : null;
    });
    expect(Date.parse(paused?.next_at ?? '')).toBeGreaterThan(Date.now());
    const { body } = await client.call<Job>('GET', `/api/v2/jobs/${id}`);
    expect(body).toMatchObject({ status: 'running', error: null, completed_at: null, queue_position: null });
    await client.call('POST', `/api/v2/jobs/${id}/cancel`);
    expect((await client.job(id)).status).toBe('canceled');
    expect(await findings()).toEqual([]);
  });

  it('goes on after its pause when all processes were restarted meanwhile', async () => {
    const { id } = await submit('max=1, on=(node_execution_error), pause=3');
    await eventually('the job to pause', async () => (await attemptsOf(id)).retry?.used === 1);
    await Promise.all([stack.maintenance, ...stack.workers].map((running) => running.end()));
    stack.maintenance = await stack.spawn('maintenance');
    await stack.addWorker();
    expect((await client.ended(id)).status).toBe('failed');
    expect((await attemptsOf(id)).attempts).toHaveLength(2);
    expect(await findings()).toEqual([]);
  });
});

describe('the official client', () => {
  const DEFAULTS = '/platform/v1/account/submission-defaults';
  const connect = (options: ConstructorParameters<typeof Comfy>[0] = {}): Comfy => {
    process.env.COMFY_BASE_URL = stack.publicUrl;
    return new Comfy({ apiKey: account.apiKey, ...options });
  };

  it('has its jobs tried again by the default of the account, and sees one failure', async () => {
    const retry = { max: 1, on: ['node_execution_error'], pause_seconds: 0 };
    expect((await client.call('PUT', DEFAULTS, { json: { retry } })).status).toBe(200);
    const comfy = connect();
    const job = await eventually('a job with the default', async () => {
      const made = await comfy.submit(comfy.workflows.fromJson(FAILING));
      return (await attemptsOf(made.id)).retry !== null && made;
    });
    await expect(job.result()).rejects.toBeInstanceOf(JobFailed);
    expect(job.error).toMatchObject({ code: 'node_execution_error', node_id: '2' });
    const { attempts } = await attemptsOf(job.id);
    expect(attempts.map(({ number, outcome }) => [number, outcome])).toEqual([
      [1, 'failed'],
      [2, 'failed'],
    ]);
    await client.call('PUT', DEFAULTS, { json: { retry: null } });
    expect(await findings()).toEqual([]);
  });

  it('that lost the answer to a submission sends it again with its key, and has one job and one hold of it', async () => {
    account = await stack.createAccount();
    const own = new ApiClient(stack.publicUrl, account.apiKey);
    let isLost = true;
    const comfy = connect({
      fetch: async (input, init) => {
        const answer = await fetch(input, init);
        if (isLost && init?.method === 'POST') {
          isLost = false;
          await answer.body?.cancel();
          throw new TypeError('the connection broke');
        }
        return answer;
      },
    });
    const workflow = comfy.workflows.fromJson({
      '1': { class_type: 'PrimitiveInt', inputs: { value: 7 } },
      '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
    });
    const idempotencyKey = newId();
    const send = (): Promise<unknown> => comfy.submit(workflow, { idempotencyKey });
    await expect(send()).rejects.toThrow('the connection broke');
    await expect(send()).rejects.toBeInstanceOf(IdempotencyKeyReuse);
    const { body } = await own.call<JobPage>('GET', '/api/v2/jobs');
    expect(body.jobs).toHaveLength(1);
    const job = await comfy.jobs.get(body.jobs[0]?.id ?? '');
    expect((await job.wait(240_000)).status).toBe('succeeded');
    const holds = await stack.test.database.models.ledgerTransaction.count({
      where: { accountId: account.id, kind: 'hold' },
    });
    expect(holds).toBe(1);
    expect(await findings()).toEqual([]);
  });
});
