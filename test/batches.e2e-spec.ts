import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Comfy } from '@comfyorg/sdk';
import type { BatchJobView, BatchView } from '@millrace/contracts';
import { ApiClient, TestStack, eventually, type TestAccount } from '@millrace/testing';

/** What the archive says of itself. */
interface Manifest {
  batch_id: string;
  jobs: {
    batch_index: number;
    id: string;
    status: string;
    outputs: { path: string; size_bytes: number; hash: string; included: boolean }[];
  }[];
}

const PATH = '/api/v2/batches';
const COLORS = [0, 16777215, 255, 65280, 16711680, 3368601];
const table = (colors: readonly number[]): string =>
  JSON.stringify({
    workflow: {
      '1': { class_type: 'EmptyImage', inputs: { width: 8, height: 8, batch_size: 1, color: 0 } },
      '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'a' } },
    },
    table: { '1.color': colors },
  });

let stack: TestStack;
let account: TestAccount;
let client: ApiClient;
let folder: string;
beforeAll(async () => {
  stack = await TestStack.start({ workers: 1 });
  account = await stack.createAccount(10_000_000_000, { queue_limit: 2_000 });
  client = new ApiClient(stack.publicUrl, account.apiKey);
  folder = mkdtempSync(join(tmpdir(), 'millrace-batch-'));
});
afterAll(async () => {
  const broken = stack.api.lines.filter((line) => line.includes('request failed'));
  await stack.stop();
  rmSync(folder, { recursive: true });
  expect(broken).toEqual([]);
});

const submit = async (text: string): Promise<BatchView> => {
  const { status, body } = await client.call<BatchView>('POST', PATH, { text });
  expect(status).toBe(201);
  return body;
};
const completed = (id: string): Promise<BatchView> =>
  eventually(
    `batch ${id} to be completed`,
    async () => {
      const { body } = await client.call<BatchView>('GET', `${PATH}/${id}`);
      return body.status === 'completed' ? body : null;
    },
    120_000,
  );

describe('a batch that has run', () => {
  let batch: BatchView;
  let jobs: BatchJobView[];
  beforeAll(async () => {
    batch = await completed((await submit(table(COLORS))).id);
    const { text } = await client.call('GET', `${PATH}/${batch.id}/results`);
    jobs = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as BatchJobView);
  });

  it('has succeeded in all its jobs, and cost what they cost', () => {
    expect(batch).toMatchObject({ progress: 1, counts: { succeeded: COLORS.length, queued: 0, running: 0 } });
    const charged = jobs.reduce((sum, { metrics }) => sum + (metrics.charged_micros ?? 0), 0);
    expect([batch.charged_micros, charged > 0]).toEqual([charged, true]);
  });

  it('lists its jobs as lines, in order', () => {
    expect(jobs.map((job) => [job.batch_index, job.status])).toEqual(COLORS.map((_, index) => [index, 'succeeded']));
  });

  it('gives its outputs as one archive that other programs open, with a manifest', async () => {
    const answer = await fetch(`${stack.publicUrl}${PATH}/${batch.id}/outputs.zip`, {
      headers: { authorization: `Bearer ${account.apiKey}` },
    });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/zip']);
    const file = join(folder, 'outputs.zip');
    writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
    execFileSync('python3', ['-m', 'zipfile', '-t', file]);
    execFileSync('python3', ['-m', 'zipfile', '-e', file, folder]);
    const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;
    expect(manifest.batch_id).toBe(batch.id);
    expect(manifest.jobs.map(({ id }) => id)).toEqual(jobs.map(({ id }) => id));
    const pictures = manifest.jobs.map(({ outputs: [output] }) => {
      const bytes = readFileSync(join(folder, output?.path ?? ''));
      expect([bytes.length, output?.included]).toEqual([output?.size_bytes, true]);
      return createHash('sha256').update(bytes).digest('hex');
    });
    expect(new Set(pictures).size).toBe(COLORS.length);
    for (const [index, { outputs }] of manifest.jobs.entries())
      expect(outputs[0]?.hash).toBe(jobs[index]?.outputs[0]?.hash);
  });

  it('stops reading when a client does not want the rest of its archive', async () => {
    const gone = new AbortController();
    const answer = await fetch(`${stack.publicUrl}${PATH}/${batch.id}/outputs.zip`, {
      headers: { authorization: `Bearer ${account.apiKey}` },
      signal: gone.signal,
    });
    await answer.body?.getReader().read();
    gone.abort();
    expect((await client.call<BatchView>('GET', `${PATH}/${batch.id}`)).status).toBe(200);
  });

  it('has jobs that the official client reads like any other', async () => {
    process.env.COMFY_BASE_URL = stack.publicUrl;
    const job = await new Comfy({ apiKey: account.apiKey }).jobs.get(jobs[0]?.id ?? '');
    expect(job.status).toBe('succeeded');
  });
});

it('a thousand jobs are accepted at once, and canceled at once', async () => {
  const { id, job_count: count } = await submit(table(Array.from({ length: 1_000 }, (_, color) => color)));
  expect(count).toBe(1_000);
  const { status } = await client.call('POST', `${PATH}/${id}/cancel`);
  expect(status).toBe(200);
  const { counts } = await completed(id);
  expect(counts.canceled + counts.succeeded).toBe(1_000);
  expect(counts.canceled).toBeGreaterThan(0);
  const { body } = await client.call<{ held_micros: number }>('GET', '/platform/v1/credits');
  expect(body.held_micros).toBe(0);
});

describe('a retry of a batch', () => {
  /** The blur is larger than the picture where that has 16 points, which fails. */
  const blurred = JSON.stringify({
    workflow: {
      '1': { class_type: 'EmptyImage', inputs: { width: 64, height: 64, batch_size: 1, color: 0 } },
      '2': { class_type: 'ImageBlur', inputs: { image: ['1', 0], blur_radius: 20, sigma: 1 } },
      '3': { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: 'a' } },
    },
    table: { '1.width': [64, 16, 64, 16], '1.height': [64, 16, 64, 16] },
    metadata: { order: '12' },
  });
  const jobsOf = async (id: string): Promise<BatchJobView[]> =>
    (await client.call<{ jobs: BatchJobView[] }>('GET', `${PATH}/${id}/jobs`)).body.jobs;
  const retry = (id: string, key: string, json?: object): ReturnType<typeof client.call<BatchView>> =>
    client.call<BatchView>('POST', `${PATH}/${id}/retry`, {
      headers: { 'Idempotency-Key': key },
      ...(json === undefined ? {} : { json }),
    });

  it('runs those that failed once more, in their places, and no other', async () => {
    const { id } = await completed((await submit(blurred)).id);
    const before = await jobsOf(id);
    expect(before.map(({ status }) => status)).toEqual(['succeeded', 'failed', 'succeeded', 'failed']);
    const answer = await retry(id, 'again');
    expect([answer.status, answer.body.retry_count]).toEqual([200, 1]);
    const after = await completed(id);
    expect(after.counts).toMatchObject({ succeeded: 2, failed: 2 });
    const now = await jobsOf(id);
    expect(now.map((job, at) => job.id === before[at]?.id)).toEqual([true, false, true, false]);
    expect(now.map(({ batch_index: index, metadata }) => [index, metadata.order])).toEqual(
      [0, 1, 2, 3].map((index) => [index, '12']),
    );
    // A repeat of the request is no other retry, though jobs of the retry have failed.
    expect((await retry(id, 'again')).body.retry_count).toBe(1);
    expect((await jobsOf(id)).map((job) => job.id)).toEqual(now.map((job) => job.id));
    const all = [...now, before[1], before[3]];
    expect(after.charged_micros).toBe(all.reduce((sum, job) => sum + (job?.metrics.charged_micros ?? 0), 0));
    process.env.COMFY_BASE_URL = stack.publicUrl;
    const official = new Comfy({ apiKey: account.apiKey });
    for (const job of [before[1], now[1]]) expect((await official.jobs.get(job?.id ?? '')).status).toBe('failed');
  });

  it('of what was canceled has it succeed', async () => {
    const many = Array.from({ length: 60 }, (_, color) => color);
    const { id } = await submit(table(many));
    await client.call('POST', `${PATH}/${id}/cancel`);
    const { counts } = await completed(id);
    expect(counts.canceled).toBeGreaterThan(0);
    expect((await retry(id, 'what-was-canceled', { statuses: ['canceled'] })).status).toBe(200);
    const { counts: ended, job_count: count } = await completed(id);
    expect([ended.succeeded, count]).toEqual([many.length, many.length]);
    const { body } = await client.call<{ held_micros: number }>('GET', '/platform/v1/credits');
    expect(body.held_micros).toBe(0);
  });
});
