import { createHash } from 'node:crypto';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ApiClient,
  TestStack,
  createTestFolder,
  spawnableSimulator,
  uploadModel,
  weightsOf,
  type TestFolder,
} from '@millrace/testing';
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
});
afterAll(async () => {
  await stack.stop();
  await folder.drop();
});

describe('a worker outside the cluster, with a bucket behind the gateway', () => {
  it('fetches the model that a job names, runs it, and stores what it made by links', async () => {
    const bytes = weightsOf('weights');
    await uploadModel(client, { name: NAME }, bytes);
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
  });
});
