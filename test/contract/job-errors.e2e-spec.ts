import { randomBytes } from 'node:crypto';
import { rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import sharp from 'sharp';
import type { Job } from '@millrace/contracts';
import { ApiClient, TestStack, eventually, testRedisUrl, type TestProcess } from '@millrace/testing';
let stack: TestStack;
let client: ApiClient;
let worker: TestProcess;
/** The worker's own folder, where runs write what they make. */
let workDir: string;
let blobDir: string;
beforeAll(async () => {
  stack = await TestStack.start({ settings: { MILLRACE_MAX_ATTEMPTS: '1', MILLRACE_HOLD_MICROS: '1000' } });
  client = new ApiClient(stack.publicUrl, (await stack.createAccount(10_000_000)).apiKey);
  workDir = stack.env.MILLRACE_WORK_DIR ?? '';
  blobDir = join(stack.env.MILLRACE_BLOB_DIR ?? '', 'blobs');
  // What the pool can run stays known; what is submitted waits for the worker that comes next.
  await stack.workers[0]?.end();
});
afterAll(() => stack.stop());

const NUMBER = {
  '1': { class_type: 'PrimitiveInt', inputs: { value: 7 } },
  '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
};
const drawn = (size: number, steps: number): object => ({
  '1': {
    class_type: 'MillraceReactionDiffusion',
    inputs: { width: size, height: size, steps, seed: 1, feed: 0.055, kill: 0.062 },
  },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'drawn' } },
});
/** Runs for a second or more, each time: the engine reuses what it drew before for the same number of steps. */
const takingASecond = (nth: number): object => drawn(192, 1_200 + nth);
/** Runs until somebody ends it. */
const ENDLESS = drawn(512, 100_000);

const runs = async (id: string, who = client): Promise<void> => {
  await eventually('the job to run', async () => (await who.job(id)).status === 'running');
};

async function failure(id: string, who = client): Promise<[string, string | undefined]> {
  const { status, error }: Job = await who.ended(id);
  expect(error?.message).toMatch(/^[A-Z].*\.$/s);
  return [status, error?.code];
}

describe('a job that cannot be run says why in its error', () => {
  it('credential_unavailable, when its credential was lost; input_unavailable, when an input was', async () => {
    const bytes = await sharp(randomBytes(48), { raw: { width: 4, height: 4, channels: 3 } })
      .png()
      .toBuffer();
    const { body: input } = await client.upload(bytes, { content_type: 'image/png', file_path: 'in.png' });
    const withInput = await client.run({
      '1': { class_type: 'LoadImage', inputs: { image: { __type: 'core/ASSET', info: { id: input.id } } } },
      '2': { class_type: 'PreviewImage', inputs: { images: ['1', 0] } },
    });
    const withSecret = await client.run(NUMBER, { extra_data: { api_key_vendor_org: 'of a partner' } });
    await rename(blobDir, `${blobDir}-gone`);
    const redis = new Redis(testRedisUrl());
    expect(await redis.del(`millrace:secret:${withSecret.id}`)).toBe(1);
    redis.disconnect();

    worker = await stack.addWorker({ MILLRACE_WORK_DIR: workDir });
    expect(await failure(withSecret.id)).toEqual(['failed', 'credential_unavailable']);
    expect(await failure(withInput.id)).toEqual(['failed', 'input_unavailable']);
    await rm(blobDir, { recursive: true, force: true });
    await rename(`${blobDir}-gone`, blobDir);
  });

  it('output_storage_error, when an output cannot be kept', async () => {
    const { id } = await client.run(takingASecond(1));
    await runs(id);
    await rename(blobDir, `${blobDir}-gone`);
    await writeFile(blobDir, 'in the way');
    expect(await failure(id)).toEqual(['failed', 'output_storage_error']);
    await rm(blobDir);
    await rename(`${blobDir}-gone`, blobDir);
  });

  it('engine_error, when the engine broke', async () => {
    const { id } = await client.run(takingASecond(2));
    await runs(id);
    // In place of the folder that its first file will make, one that leads nowhere: a fault of the machine, and none of the graph's.
    await symlink('nowhere', join(workDir, `${id}.1`));
    expect(await failure(id)).toEqual(['failed', 'engine_error']);
  });

  it('credits_exhausted, when it used up what its account had', async () => {
    const { apiKey } = await stack.createAccount(1_500);
    const poor = new ApiClient(stack.publicUrl, apiKey);
    const { id } = await poor.run(ENDLESS);
    expect(await failure(id, poor)).toEqual(['failed', 'credits_exhausted']);
  });

  it('execution_timeout, when it did not end by its deadline; it is expired then', async () => {
    const { id } = await client.run(ENDLESS);
    await runs(id);
    await stack.test.database.models.job.update({ where: { id }, data: { deadlineAt: new Date() } });
    expect(await failure(id)).toEqual(['expired', 'execution_timeout']);
  });

  it('worker_lost, when every worker that ran it was lost', async () => {
    const { id } = await client.run(ENDLESS);
    await runs(id);
    await worker.end('SIGKILL');
    const passed = new Date(Date.now() - 1_000);
    await stack.test.database.models.job.update({ where: { id }, data: { leaseExpiresAt: passed } });
    expect(await failure(id)).toEqual(['failed', 'worker_lost']);
  });
});
