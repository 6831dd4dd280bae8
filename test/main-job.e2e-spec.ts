import type { Job } from '@millrace/contracts';
import { ApiClient, eventually, TestStack, type TestAccount } from '@millrace/testing';

let stack: TestStack;
let account: TestAccount;
let client: ApiClient;
beforeAll(async () => {
  stack = await TestStack.start();
  account = await stack.createAccount();
  client = new ApiClient(stack.publicUrl, account.apiKey);
});
afterAll(() => stack.stop());

/** Key order, a 64-bit integer, floats and escapes that a JSON library of JavaScript would not keep. */
const VERBATIM =
  '{"10":{"class_type":"PrimitiveInt","inputs":{"value":9007199254740993}},' +
  '"9":{"inputs":{"source":["10",0]},"class_type":"PreviewAny"},' +
  '"8":{"class_type":"PrimitiveFloat","inputs":{"value":1.0}},"7":{"class_type":"PreviewAny","inputs":{"source":["8",0]}},' +
  '"6":{"class_type":"MillraceReactionDiffusion","inputs":{"width":64,"height":64,"steps":10,' +
  '"seed":18446744073709551615,"feed":0.055,"kill":0.062}},' +
  '"5":{"class_type":"SaveImage","_meta":{"title":"caf\\u00e9 \\ud83d\\ude00"},"inputs":{"images":["6",0],"filename_prefix":"v"}}}';

/** A graph that grows a pattern for as long as `steps` take. */
const growing = (size: number, steps: number): object => ({
  '1': {
    class_type: 'MillraceReactionDiffusion',
    inputs: { width: size, height: size, steps, seed: 1, feed: 0.055, kill: 0.062 },
  },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'grown' } },
});

describe('a submitted job', () => {
  it('runs to its end, and its outputs are retrievable and are what their hashes say', async () => {
    const created = await client.submit(`{"workflow":${VERBATIM},"metadata":{"user":"u-1"}}`);
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({
      status: 'queued',
      started_at: null,
      completed_at: null,
      metadata: { user: 'u-1' },
    });
    const job = await client.ended(created.body.id);
    expect(job).toMatchObject({
      status: 'succeeded',
      error: null,
      progress: { value: 1, nodes_done: 6, nodes_total: 6 },
    });
    const ofType = (type: string): Job['outputs'] => job.outputs.filter((output) => output.type === type);
    const texts = await Promise.all(ofType('text').map(async (output) => String(await client.download(output.url))));
    expect(texts.sort()).toEqual(['1.0', '9007199254740993']);
    const [image] = ofType('image');
    const bytes = await client.download(image?.url ?? '');
    expect(bytes.length).toBe(image?.size_bytes);
    expect(bytes.subarray(1, 4).toString()).toBe('PNG');
  });

  it('gives its workflow back to the byte, 64-bit integers and 1.0 included', async () => {
    const { body } = await client.submit(`{"workflow": ${VERBATIM}}`);
    const answer = await client.call('GET', `/api/v2/jobs/${body.id}/workflow`);
    expect(answer.text).toBe(`{"workflow":${VERBATIM},"format":"api"}`);
    expect(answer.text).toContain('18446744073709551615');
  });

  it('is charged for the engine time it used, and nothing stays held', async () => {
    const { body } = await client.submit(`{"workflow":${VERBATIM}}`);
    const job = await client.ended(body.id);
    expect(job.metrics.charged_micros).toBeGreaterThan(0);
    const balance = await stack.test.database.models.balance.findUniqueOrThrow({ where: { accountId: account.id } });
    expect(balance.heldMicros).toBe(0n);
  });
});

describe('an asset', () => {
  it('is uploaded, referred to by a workflow, and reaches the engine', async () => {
    const made = await client.run({
      '1': { class_type: 'EmptyImage', inputs: { width: 24, height: 16, batch_size: 1, color: 3368601 } },
      '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'p' } },
    });
    const [picture] = (await client.ended(made.id)).outputs;
    const bytes = await client.download(picture?.url ?? '');
    const { status, body: asset } = await client.upload(bytes, { content_type: 'image/png', file_path: 'in.png' });
    expect(status).toBe(200);
    expect(asset).toMatchObject({ hash: picture?.hash, created_new: false });
    const flip = (from: string): object => ({
      class_type: 'ImageFlip',
      inputs: { image: [from, 0], flip_method: 'x-axis: vertically' },
    });
    const job = await client.run({
      '1': { class_type: 'LoadImage', inputs: { image: { __type: 'core/ASSET', info: { id: asset.id } } } },
      '2': flip('1'),
      '3': flip('2'),
      '4': { class_type: 'SaveImage', inputs: { images: ['3', 0], filename_prefix: 'twice' } },
    });
    const [result] = (await client.ended(job.id)).outputs;
    expect(result?.hash).toBe(picture?.hash);
  });
});

describe('a running job', () => {
  it('is canceled on request', async () => {
    const { id } = await client.run(growing(512, 100_000));
    await eventually('the job to take its first steps', async () => ((await client.job(id)).progress?.step ?? 0) > 0);
    const canceled = await client.call<Job>('POST', `/api/v2/jobs/${id}/cancel`);
    expect(canceled.status).toBe(200);
    // The worker may have stopped before the answer was read.
    expect(['canceling', 'canceled']).toContain(canceled.body.status);
    expect(await client.ended(id)).toMatchObject({ status: 'canceled', error: null });
    const history = await stack.test.database.models.jobTransition.findMany({
      where: { jobId: id },
      orderBy: { seq: 'asc' },
    });
    expect(history.map(({ toStatus }) => toStatus)).toEqual(['queued', 'running', 'canceling', 'canceled']);
  });

  it('is not lost with its worker: the next attempt runs to the end', async () => {
    const { id } = await client.run(growing(256, 2_000));
    await eventually('a worker to have it', async () => {
      const { delivery } = await stack.test.database.models.job.findUniqueOrThrow({ where: { id } });
      return delivery === 'leased';
    });
    await stack.workers[0]?.end('SIGKILL');
    await stack.addWorker();
    expect(await client.ended(id, 240_000)).toMatchObject({ status: 'succeeded' });
    const attempts = await stack.test.database.models.jobAttempt.findMany({ where: { jobId: id } });
    expect(attempts.map((attempt) => attempt.outcome).sort()).toEqual(['lost', 'succeeded']);
  });
});

describe('a caller without a valid key', () => {
  it.each([null, 'mr_live_nonsense', 'x'])('gets an answer that says so, in the envelope: %p', async (credential) => {
    const answer = await new ApiClient(stack.publicUrl, credential).call('GET', '/api/v2/jobs');
    expect(answer.status).toBe(401);
    expect(answer.body.error.code).toBe('unauthorized');
  });
});
