import { mkdirSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ApiClient,
  TestStack,
  createTestFolder,
  eventually,
  spawnableSimulator,
  uploadModel,
  weightsOf,
  type TestAccount,
  type TestFolder,
  type TestProcess,
} from '@millrace/testing';

/** The least that a cache may be set to; a model of these tests takes more than half of it. */
const CACHE_BYTES = 1_000_000;
const MODEL_BYTES = 600_000;

let stack: TestStack;
let folder: TestFolder;
let fleet: TestProcess;
let gateway: TestProcess;
let account: TestAccount;
let client: ApiClient;
beforeAll(async () => {
  folder = await createTestFolder();
  mkdirSync(join(folder.path, 'comfyui'));
  const settings = {
    MILLRACE_GATEWAY_PORT: '0',
    MILLRACE_COMFYUI_COMMAND: (await spawnableSimulator()).join(' '),
    MILLRACE_COMFYUI_DIR: join(folder.path, 'comfyui'),
    MILLRACE_MODEL_CACHE_BYTES: String(CACHE_BYTES),
  };
  stack = await TestStack.start({ workers: 0, settings });
  account = await stack.createAccount(100_000_000, { deployment_limit: 20, deployment_worker_limit: 20 });
  client = new ApiClient(stack.publicUrl, account.apiKey);
  const own = { MILLRACE_MODEL_CACHE_DIR: cacheOf('fleet') };
  const classes = [{ name: 'simulated', engine: 'comfyui', settings: own }];
  writeFileSync(join(folder.path, 'classes.json'), JSON.stringify({ classes }));
  fleet = await stack.spawn('fleet', {
    MILLRACE_FLEET: 'processes',
    MILLRACE_ENGINE_CLASSES_FILE: join(folder.path, 'classes.json'),
    MILLRACE_FLEET_DIR: join(folder.path, 'fleet'),
  });
  gateway = await stack.spawn('gateway');
  for (const name of ['one', 'two', 'three']) {
    const content = weightsOf(Buffer.alloc(MODEL_BYTES, name));
    await uploadModel(client, { name: fileOf(name) }, content);
  }
  await uploadModel(client, { folder: 'loras', name: fileOf('small') }, weightsOf('small'));
});
afterAll(async () => {
  await stack.stop();
  await folder.drop();
});

const fileOf = (name: string): string => `${name}.safetensors`;
const model = (name: string): object => ({ folder: name === 'small' ? 'loras' : 'checkpoints', name: fileOf(name) });
const cacheOf = (name: string): string => join(folder.path, `cache-${name}`);

interface Deployment {
  id: string;
  path: string;
  state: string;
  state_reason: string | null;
  ready_workers: number;
  models: object[];
}

async function call<T = Deployment>(method: string, path: string, json?: object): Promise<T> {
  const { status, body, text } = await client.call<T>(method, `/platform/v1/deployments${path}`, json && { json });
  if (status >= 300) throw new Error(text);
  return body;
}
const create = (names: string[], more: object = {}): Promise<Deployment> =>
  call('POST', '', { name: 'a test', engine_class: 'simulated', models: names.map(model), ...more });
const becomes = (id: string, what: string, is: (now: Deployment) => boolean): Promise<boolean> =>
  eventually(`the deployment to be ${what}`, async () => is(await call('GET', `/${id}`)), 120_000);
const isReady = ({ state, ready_workers: ready }: Deployment): boolean => state === 'ready' && ready === 1;
const kept = async (cache: string): Promise<number> => (await readdir(join(cacheOf(cache), 'models'))).length;
/** What the workers of a pool have said that their disks have. */
const reported = async (poolId: string): Promise<string[]> => {
  const workers = await stack.test.database.models.worker.findMany({ where: { poolId } });
  return workers.flatMap(({ diskModels }) => diskModels).sort();
};

describe('the models that a deployment names', () => {
  it('are on the disk of its worker before that is ready, those that are added come while it runs, and a job finds them', async () => {
    const { id, path } = await create(['one'], { min_workers: 1 });
    await becomes(id, 'ready', isReady);
    expect(await kept('fleet')).toBe(1);
    expect(await reported(id)).toEqual(['one.safetensors']);
    const { starts } = await call<{ starts: { models_ms: number | null }[] }>('GET', `/${id}/starts`);
    expect(starts).toMatchObject([{ models_ms: expect.any(Number) as number }]);
    await eventually('the phase to be counted', async () => {
      const metrics = await (await fetch(`${fleet.opsUrl}/metrics`)).text();
      return /^millrace_worker_start_seconds_count\{[^}]*class="simulated",phase="models"[^}]*\} 1$/m.test(metrics);
    });
    await call('PATCH', `/${id}`, { models: ['one', 'small'].map(model) });
    await eventually('the added model', async () => (await reported(id)).includes('small.safetensors'), 60_000);
    const there = new ApiClient(stack.publicUrl + path, account.apiKey);
    const job = await there.run({
      '1': { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: 'one.safetensors' } },
      '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
    });
    expect(await there.ended(job.id)).toMatchObject({ status: 'succeeded' });
    expect((await call('GET', `/${id}`)).state_reason).toBeNull();
    await client.call('DELETE', `/platform/v1/deployments/${id}`);
  });

  it('that the cache cannot hold together are a reason in its state, and fail no worker', async () => {
    const { id } = await create(['two', 'three', 'small'], { min_workers: 1 });
    const reason =
      'its models: the cache of its workers, which holds 1.0 MB, has no room for checkpoints/three.safetensors';
    await becomes(id, 'ready with the reason', (now) => isReady(now) && now.state_reason === reason);
    const fetched = await reported(id);
    expect(fetched).toEqual(expect.arrayContaining(['small.safetensors', 'two.safetensors']));
    expect(fetched).not.toContain('three.safetensors');
    await call('PATCH', `/${id}`, { models: [model('two')] });
    await becomes(id, 'without a reason', ({ state_reason: now }) => now === null);
  });

  it('are on the disk of a worker outside the cluster as well', async () => {
    const { id } = await stack.admin<{ id: string }>('POST', '/deployments', {
      ...{ account_id: account.id, name: 'outside', engine: 'comfyui', engine_class: 'simulated', max_workers: 1 },
      models: ['one', 'small'].map(model),
    });
    const { token } = await stack.admin<{ token: string }>('POST', `/pools/${id}/tokens`, { name: 'a GPU' });
    await stack.addRemoteWorker(gateway.publicUrl, token, {
      MILLRACE_ENGINE: 'comfyui',
      MILLRACE_MODEL_CACHE_DIR: cacheOf('outside'),
    });
    expect(await kept('outside')).toBe(2);
    await eventually('the worker to say so', async () => (await reported(id)).length >= 2);
  });
});
