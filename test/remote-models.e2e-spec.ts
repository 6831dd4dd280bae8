import { createHash } from 'node:crypto';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiClient, TestStack, createTestFolder, spawnableSimulator, type TestFolder } from '@millrace/testing';
import { TestBucket } from './console/support/test-bucket';

const NAME = 'mine/tiny.safetensors';
const bucket = new TestBucket();

let stack: TestStack;
let folder: TestFolder;
let client: ApiClient;
let gatewayUrl: string;
beforeAll(async () => {
  folder = await createTestFolder();
  stack = await TestStack.start({ workers: 0, settings: { MILLRACE_GATEWAY_PORT: '0', ...bucket.settings } });
  gatewayUrl = (await stack.spawn('gateway')).publicUrl;
  const { apiKey } = await stack.createAccount(10_000_000_000);
  client = new ApiClient(stack.publicUrl, apiKey);
  const { token } = await stack.admin<{ token: string }>('POST', `/pools/${stack.pool}/tokens`, { name: 'a GPU' });
  await mkdir(join(folder.path, 'comfyui'));
  const command = await spawnableSimulator();
  await stack.addRemoteWorker(gatewayUrl, token, {
    MILLRACE_ENGINE: 'comfyui',
    MILLRACE_COMFYUI_COMMAND: command.join(' '),
    MILLRACE_COMFYUI_DIR: join(folder.path, 'comfyui'),
    MILLRACE_MODEL_CACHE_DIR: join(folder.path, 'models'),
  });
}, 240_000);
afterAll(async () => {
  await stack.stop();
  await folder.drop();
});

function weights(): Buffer {
  const header = JSON.stringify({ 'double_blocks.0.weight': { dtype: 'U8', shape: [64], data_offsets: [0, 64] } });
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, Buffer.from(header), Buffer.alloc(64, 9)]);
}

interface OpenModel {
  id: string;
  upload: { parts: { url: string }[] };
}

/** Bring a model to the account's library. */
async function upload(bytes: Buffer): Promise<void> {
  const json = { folder: 'checkpoints', name: NAME, size_bytes: bytes.length };
  const { body } = await client.call<OpenModel>('POST', '/platform/v1/models', { json });
  const [part] = body.upload.parts;
  const headers = { 'content-type': 'application/octet-stream' };
  const sent = await fetch(part?.url ?? '', { method: 'PUT', headers, body: new Uint8Array(bytes) });
  expect(sent.status).toBeLessThan(300);
  const completed = await client.call('POST', `/platform/v1/models/${body.id}/complete`);
  expect(completed.status).toBe(200);
}

describe('a worker outside the cluster, with a bucket behind the gateway', () => {
  it('fetches the model that a job names, runs it, and stores what it made by links', async () => {
    const bytes = weights();
    await upload(bytes);
    const { id } = await client.run({
      1: { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: NAME } },
      2: { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
      3: { class_type: 'EmptyImage', inputs: { width: 64, height: 64, batch_size: 1, color: 7 } },
      4: { class_type: 'SaveImage', inputs: { images: ['3', 0], filename_prefix: 'made' } },
    });
    const job = await client.ended(id);
    expect(job).toMatchObject({ status: 'succeeded' });
    const contents = await Promise.all((job.outputs ?? []).map(({ url }) => client.download(url)));
    const text = `model ${createHash('sha256').update(bytes).digest('hex')}`;
    expect(contents.map((content) => content.toString('utf8'))).toContain(text);
    expect(contents).toHaveLength(2);
    expect(await readdir(join(folder.path, 'models', 'models'))).toHaveLength(1);
  }, 240_000);
});
