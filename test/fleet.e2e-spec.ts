import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Comfy } from '@comfyorg/sdk';
import {
  ApiClient,
  TestStack,
  createTestFolder,
  eventually,
  type TestAccount,
  type TestFolder,
  type TestProcess,
} from '@millrace/testing';

let stack: TestStack;
let folder: TestFolder;
let account: TestAccount;
let fleet: TestProcess;
beforeAll(async () => {
  folder = await createTestFolder();
  stack = await TestStack.start({ workers: 0 });
  account = await stack.createAccount(100_000_000, { deployment_limit: 20, deployment_worker_limit: 20 });
  fleet = await startFleet();
});
afterAll(async () => {
  await stack.stop();
  await folder.drop();
});

const CLASSES = [
  { name: 'cpu', engine: 'cpu' },
  // Its workers end at once: there is no ComfyUI.
  { name: 'broken', engine: 'comfyui' },
  { name: 'leaving', engine: 'cpu' },
];

function startFleet(classes: object[] = CLASSES): Promise<TestProcess> {
  const file = join(folder.path, 'classes.json');
  writeFileSync(file, JSON.stringify({ classes }));
  const settings = { MILLRACE_FLEET: 'processes', MILLRACE_ENGINE_CLASSES_FILE: file, MILLRACE_FLEET_DIR: folder.path };
  return stack.spawn('fleet', settings);
}

interface Deployment {
  id: string;
  path: string;
  state: string;
  state_reason: string | null;
  ready_workers: number;
}

const platform = (): ApiClient => new ApiClient(stack.publicUrl, account.apiKey);
const clientOf = ({ path }: Deployment): ApiClient => new ApiClient(stack.publicUrl + path, account.apiKey);
async function create(more: object = {}): Promise<Deployment> {
  const json = { name: 'a test', engine_class: 'cpu', ...more };
  const { status, body, text } = await platform().call<Deployment>('POST', '/platform/v1/deployments', { json });
  if (status !== 201) throw new Error(text);
  return body;
}
const read = async ({ id }: Deployment): Promise<Deployment> =>
  (await platform().call<Deployment>('GET', `/platform/v1/deployments/${id}`)).body;
/** Have its workers stay for so many seconds without a job. */
async function keepIdle({ id }: Deployment, seconds: number): Promise<void> {
  const json = { idle_seconds: seconds };
  expect((await platform().call('PATCH', `/platform/v1/deployments/${id}`, { json })).status).toBe(200);
}
const remove = async ({ id }: Deployment): Promise<number> =>
  (await platform().call('DELETE', `/platform/v1/deployments/${id}`)).status;
const becomes = (deployment: Deployment, what: string, is: (now: Deployment) => boolean): Promise<boolean> =>
  eventually(`the deployment to be ${what}`, async () => is(await read(deployment)), 120_000);
const ready = ({ state, ready_workers }: Deployment): boolean => state === 'ready' && ready_workers > 0;
const workersOf = ({ id }: Deployment): Promise<{ pid: number; state: string }[]> =>
  stack.test.database.models.worker.findMany({ where: { poolId: id }, orderBy: { startedAt: 'asc' } });

const graph = (steps = 10): Record<string, { class_type: string; inputs: Record<string, unknown> }> => ({
  '1': {
    class_type: 'MillraceReactionDiffusion',
    inputs: { width: 64, height: 64, steps, seed: 1, feed: 0.055, kill: 0.062 },
  },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'grown' } },
});

it('a deployment is ready by itself, runs a job, goes to zero, is woken by the next job, and is deleted', async () => {
  const deployment = await create({ idle_seconds: 600 });
  await becomes(deployment, 'ready', ready);
  process.env.COMFY_BASE_URL = stack.publicUrl + deployment.path;
  const official = new Comfy({ apiKey: account.apiKey });
  expect((await official.run(official.workflows.fromJson(graph()))).status).toBe('succeeded');
  // Its worker goes when it has run the job, and not while a slow test still looks.
  await keepIdle(deployment, 0);
  await becomes(deployment, 'without workers', ({ state, ready_workers }) => state === 'ready' && ready_workers === 0);
  await eventually('its worker to have stopped in order', async () =>
    (await workersOf(deployment)).every(({ state }) => state === 'stopped'),
  );
  await keepIdle(deployment, 600);
  expect((await official.run(official.workflows.fromJson(graph()))).status).toBe('succeeded');
  expect(await workersOf(deployment)).toHaveLength(2);
  expect(await remove(deployment)).toBe(204);
  await eventually('its worker to be gone', async () =>
    (await workersOf(deployment)).every(({ state }) => state === 'stopped'),
  );
});

it('an engine that does not start is tried again after growing pauses, and says why', async () => {
  const deployment = await create({ engine_class: 'broken' });
  await becomes(deployment, 'tried twice', ({ state_reason: reason }) => /engine failed.*2 times/.test(reason ?? ''));
  const refused = await clientOf(deployment).call('POST', '/api/v2/jobs', { json: { workflow: graph() } });
  expect([refused.status, refused.body.error.code]).toEqual([429, 'deployment_not_ready']);
  expect(refused.text).toContain('engine failed to start');
  expect(await remove(deployment)).toBe(204);
});

it('a busy worker is not stopped when fewer are wanted, and its deployment drains before it goes', async () => {
  const deployment = await create({ idle_seconds: 0 });
  await becomes(deployment, 'ready', ready).catch(() => undefined);
  const client = clientOf(deployment);
  const { id } = await eventually('the job to be accepted', async () => {
    const { status, body } = await client.submit(JSON.stringify({ workflow: graph(20_000) }));
    return status === 201 && body;
  });
  await eventually('the job to run', async () => (await client.job(id)).status === 'running');
  expect(await remove(deployment)).toBe(409);
  await platform().call('DELETE', `/platform/v1/deployments/${deployment.id}?drain=true`);
  await client.ended(id);
  const attempts = await stack.test.database.models.jobAttempt.findMany({ where: { jobId: id } });
  expect(attempts).toHaveLength(1);
  await eventually('the deployment to be deleted', async () => {
    const { status } = await platform().call('GET', `/platform/v1/deployments/${deployment.id}`);
    return status === 404;
  });
});

it('a controller that dies takes its workers along, and the next one brings others, without one of the class that is gone', async () => {
  const deployment = await create({ min_workers: 1 });
  const gone = await create({ engine_class: 'leaving', min_workers: 1 });
  await becomes(deployment, 'ready', ready);
  await becomes(gone, 'ready', ready);
  const [first] = await workersOf(deployment);
  await fleet.end('SIGKILL');
  fleet = await startFleet(CLASSES.filter(({ name }) => name !== 'leaving'));
  await eventually('the first worker to be gone', () => !isAlive(first?.pid ?? 0));
  await becomes(deployment, 'ready again', ready);
  await eventually('one worker to live', async () => {
    const alive = (await workersOf(deployment)).filter(({ pid }) => isAlive(pid));
    return alive.length === 1 && alive[0]?.pid !== first?.pid;
  });
  await becomes(gone, 'without its class', ({ state_reason: reason }) => reason === 'its class leaving is gone');
  const again = await platform().call('POST', '/platform/v1/deployments', {
    json: { name: 'x', engine_class: 'leaving' },
  });
  expect([again.status, again.text]).toEqual([422, expect.stringContaining('leaving') as string]);
});

it('a worker that joins from outside does the work of one of its own, which comes back when it has gone', async () => {
  const deployment = await create({ min_workers: 1, idle_seconds: 2 });
  await becomes(deployment, 'ready', ready);
  const gateway = await stack.spawn('gateway', { MILLRACE_GATEWAY_PORT: '0' });
  const pool = `/pools/${deployment.id}/tokens`;
  const { token } = await stack.admin<{ token: string }>('POST', pool, { name: 'a GPU' });
  const joined = await stack.addRemoteWorker(gateway.publicUrl, token);
  const serving = async (): Promise<boolean[]> => {
    const where = { poolId: deployment.id, state: 'ready' };
    const workers = await stack.test.database.models.worker.findMany({ where });
    return workers.map(({ tokenId }) => tokenId !== null);
  };
  const alone = async (isJoined: boolean): Promise<boolean> => (await serving()).join() === String(isJoined);
  await eventually('the joined one to serve alone', () => alone(true), 60_000);
  const { id } = await clientOf(deployment).run(graph());
  expect((await clientOf(deployment).ended(id)).status).toBe('succeeded');
  await joined.end('SIGTERM');
  await eventually('one of its own to serve again', () => alone(false), 60_000);
  expect(await remove(deployment)).toBe(204);
});

it('of two controllers one leads', async () => {
  const second = await startFleet(CLASSES);
  const deployment = await create({ min_workers: 2, max_workers: 2 });
  await becomes(deployment, 'ready', ({ ready_workers }) => ready_workers === 2);
  expect(await workersOf(deployment)).toHaveLength(2);
  await second.end('SIGTERM');
  expect(await remove(deployment)).toBe(204);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
