import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ApiClient,
  createTestFolder,
  eventually,
  spawnableSimulator,
  TestStack,
  uploadModel,
  weightsOf,
  type TestFolder,
} from '@millrace/testing';

/** The ComfyUI of these tests has a file of this name of its own; those of the library come before it. */
const NAME = 'base.safetensors';

let stack: TestStack;
let folder: TestFolder;

beforeAll(async () => {
  folder = await createTestFolder();
  stack = await TestStack.start({
    settings: {
      MILLRACE_ENGINE: 'comfyui',
      MILLRACE_COMFYUI_COMMAND: (await spawnableSimulator()).join(' '),
      MILLRACE_COMFYUI_DIR: folder.path,
      MILLRACE_MODEL_CACHE_DIR: join(folder.path, 'models'),
    },
  });
});

afterAll(async () => {
  await stack.stop();
  await folder.drop();
});

/** Put a model into the library of an account. */
async function upload(apiKey: string, content: Buffer, name = NAME): Promise<void> {
  await uploadModel(new ApiClient(stack.publicUrl, apiKey), { name }, content);
}

/** What the ComfyUI shows of the model that it has loaded for a job. */
async function loadedBy(apiKey: string, name = NAME): Promise<string> {
  const client = new ApiClient(stack.publicUrl, apiKey);
  const { id } = await client.run({
    '1': { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: name } },
    '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
  });
  const job = await client.ended(id);
  expect(job).toMatchObject({ status: 'succeeded' });
  const [output] = job.outputs;
  return (await fetch(new URL(output?.url ?? '', stack.publicUrl))).text();
}

const textOf = (content: Buffer | string): string => `model ${createHash('sha256').update(content).digest('hex')}`;

describe('a worker with a cache of models', () => {
  it('runs each job with the models of its account, and one without any with those of its ComfyUI', async () => {
    const [one, other, third] = [await stack.createAccount(), await stack.createAccount(), await stack.createAccount()];
    const [ofOne, ofOther] = [weightsOf('weights of one account'), weightsOf('weights of another')];
    await upload(one.apiKey, ofOne);
    await upload(other.apiKey, ofOther);
    expect(await loadedBy(one.apiKey)).toBe(textOf(ofOne));
    expect(await loadedBy(other.apiKey)).toBe(textOf(ofOther));
    expect(await loadedBy(third.apiKey)).toBe(textOf('built in'));
    expect(await loadedBy(one.apiKey)).toBe(textOf(ofOne));
    expect(await readdir(join(folder.path, 'models', 'models'))).toHaveLength(2);
    await eventually('the worker has reported what is on its disk', async () => {
      const worker = await stack.test.database.models.worker.findFirstOrThrow();
      return worker.diskModels.join() === NAME;
    });
  });

  it('runs jobs that name what only the library of their account has, and refuses those of others', async () => {
    const [owner, other] = [await stack.createAccount(), await stack.createAccount()];
    const name = 'styles/only-mine.safetensors';
    const content = weightsOf('weights that no ComfyUI has');
    const workflow = {
      '1': { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: name } },
      '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
    };
    const submit = async (apiKey: string) =>
      new ApiClient(stack.publicUrl, apiKey).call<{ error: { code: string; message: string } }>(
        'POST',
        '/api/v2/jobs',
        {
          json: { workflow },
        },
      );
    const early = await submit(owner.apiKey);
    expect([early.status, early.body.error.code]).toEqual([422, 'invalid_workflow']);
    expect(early.body.error.message).toContain('The model library has none of this name either.');
    await upload(owner.apiKey, content, name);
    expect(await loadedBy(owner.apiKey, name)).toBe(textOf(content));
    expect((await submit(other.apiKey)).status).toBe(422);
    const client = new ApiClient(stack.publicUrl, owner.apiKey);
    const batch = await client.call<{ id: string }>('POST', '/api/v2/batches', {
      json: { jobs: [{ workflow }, { workflow }] },
    });
    expect(batch.status).toBe(201);
    const estimate = await client.call<{ accepted: boolean }>('POST', '/platform/v1/estimates', { json: { workflow } });
    expect(estimate.body.accepted).toBe(true);
  });

  it('does not start beside a ComfyUI that could not read what it fetches, and says why', async () => {
    const starting = stack.addWorker({
      MILLRACE_COMFYUI_COMMAND: '',
      MILLRACE_COMFYUI_DIR: '',
      MILLRACE_COMFYUI_URL: 'http://127.0.0.1:9',
    });
    await expect(starting).rejects.toThrow('MILLRACE_COMFYUI_MODELS_DIR');
  });
});
