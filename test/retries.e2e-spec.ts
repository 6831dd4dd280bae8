import { JobAudit } from '@millrace/jobs';
import type { Job, JobAttempts } from '@millrace/contracts';
import { ApiClient, TestStack, eventually } from '@millrace/testing';

/** Its second node fails: the picture is smaller than the blur. */
const FAILING = {
  '1': { class_type: 'EmptyImage', inputs: { width: 16, height: 16, batch_size: 1, color: 1 } },
  '2': { class_type: 'ImageBlur', inputs: { image: ['1', 0], blur_radius: 20, sigma: 1 } },
  '3': { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: 'blurred' } },
};

let stack: TestStack;
let client: ApiClient;
beforeAll(async () => {
  stack = await TestStack.start();
  client = new ApiClient(stack.publicUrl, (await stack.createAccount()).apiKey);
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
    const job = await client.ended(id, 60_000);
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
    expect((await client.ended(id, 60_000)).status).toBe('failed');
    expect((await attemptsOf(id)).attempts).toHaveLength(2);
    expect(await findings()).toEqual([]);
  });
});
