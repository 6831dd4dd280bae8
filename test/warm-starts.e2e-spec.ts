import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
  const file = join(folder.path, 'classes.json');
  writeFileSync(file, JSON.stringify({ classes: [{ name: 'cpu', engine: 'cpu' }] }));
  const settings = {
    MILLRACE_FLEET: 'processes',
    MILLRACE_ENGINE_CLASSES_FILE: file,
    MILLRACE_FLEET_DIR: folder.path,
    MILLRACE_WARM_UP_SECONDS: '60',
  };
  fleet = await stack.spawn('fleet', settings);
});
afterAll(async () => {
  await stack.stop();
  await folder.drop();
});

interface Deployment {
  id: string;
  path: string;
  state: string;
  state_reason: string | null;
  ready_workers: number;
  warm_up: object | null;
}
interface Starts {
  starts: { boot_ms: number | null; warm_up_ms: number | null; models_ms: number | null; total_ms: number }[];
  typical: { boot_ms: number | null; warm_up_ms: number | null } | null;
}

const GRAPH = {
  '1': {
    class_type: 'MillraceReactionDiffusion',
    inputs: { width: 64, height: 64, steps: 10, seed: 1, feed: 0.055, kill: 0.062 },
  },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'warm' } },
};
/** Refers to a class that no engine has: nobody knows that before a worker has published what it can run. */
const BROKEN = { '7': { class_type: 'NoSuchLoader', inputs: {} } };

const platform = (): ApiClient => new ApiClient(stack.publicUrl, account.apiKey);
const call = <T>(method: string, path: string, json?: object): Promise<{ status: number; body: T; text: string }> =>
  platform().call<T>(method, `/platform/v1/deployments${path}`, json && { json });
async function create(more: object): Promise<Deployment> {
  const { status, body, text } = await call<Deployment>('POST', '', { name: 'a test', engine_class: 'cpu', ...more });
  if (status !== 201) throw new Error(text);
  return body;
}
const read = async ({ id }: Deployment): Promise<Deployment> => (await call<Deployment>('GET', `/${id}`)).body;
const becomes = (deployment: Deployment, what: string, is: (now: Deployment) => boolean): Promise<boolean> =>
  eventually(`the deployment to be ${what}`, async () => is(await read(deployment)), 120_000);

it('workers run the graph before they are ready; it is no job, is not billed, and its phases are shown and counted', async () => {
  const deployment = await create({ min_workers: 1, warm_up: GRAPH });
  expect(deployment.warm_up).toEqual(GRAPH);
  await becomes(deployment, 'ready', ({ state, ready_workers: ready }) => state === 'ready' && ready === 1);
  const { starts, typical } = (await call<Starts>('GET', `/${deployment.id}/starts`)).body;
  const measured = { boot_ms: expect.any(Number) as number, warm_up_ms: expect.any(Number) as number, models_ms: null };
  expect(starts).toMatchObject([measured]);
  expect(typical).toMatchObject(measured);
  const { job, usageRecord, ledgerTransaction } = stack.test.database.models;
  expect(await job.count({ where: { poolId: deployment.id } })).toBe(0);
  expect(await usageRecord.count({ where: { deploymentId: deployment.id } })).toBe(0);
  expect(await ledgerTransaction.count({ where: { kind: 'settlement' } })).toBe(0);
  await eventually('the start to be counted', async () => {
    const metrics = await (await fetch(`${fleet.opsUrl}/metrics`)).text();
    return ['boot', 'warm_up'].every((phase) =>
      new RegExp(`^millrace_worker_start_seconds_count\\{[^}]*class="cpu",phase="${phase}"[^}]*\\} 1$`, 'm').test(
        metrics,
      ),
    );
  });
  expect((await call('DELETE', `/${deployment.id}`)).status).toBe(204);
});

it('a graph that cannot be run is the reason why its deployment is not ready, until it is changed', async () => {
  const deployment = await create({ min_workers: 1, warm_up: BROKEN });
  await becomes(deployment, 'failed', ({ state_reason: reason }) =>
    /engine failed to start.*The warm-up failed: .*NoSuchLoader/.test(reason ?? ''),
  );
  const client = new ApiClient(stack.publicUrl + deployment.path, account.apiKey);
  const refused = await client.call('POST', '/api/v2/jobs', { json: { workflow: GRAPH } });
  expect([refused.status, refused.body.error.code]).toEqual([429, 'deployment_not_ready']);
  expect(refused.text).toContain('The warm-up failed');
  // Its worker has published by now what it can run: the same graph would be refused at once.
  const again = await call('PATCH', `/${deployment.id}`, { warm_up: BROKEN });
  expect([again.status, again.text]).toEqual([422, expect.stringContaining('NoSuchLoader') as string]);
  expect((await call('PATCH', `/${deployment.id}`, { warm_up: null })).status).toBe(200);
  await becomes(deployment, 'ready', ({ state, ready_workers: ready }) => state === 'ready' && ready === 1);
  const { changes } = (
    await call<{ changes: { action: string; details: object }[] }>('GET', `/${deployment.id}/changes`)
  ).body;
  expect(changes[0]).toMatchObject({ action: 'deployment.update', details: { warm_up: null } });
  expect(changes.at(-1)?.details).toMatchObject({ warm_up: expect.stringMatching(/^sha256:.*, 1 nodes$/) as string });
  expect((await call('DELETE', `/${deployment.id}`)).status).toBe(204);
});

it('a change without any field is refused', async () => {
  const deployment = await create({});
  const { status, text } = await call('PATCH', `/${deployment.id}`, {});
  expect([status, text]).toEqual([422, expect.stringContaining('name at least one field to change') as string]);
  expect((await call('DELETE', `/${deployment.id}`)).status).toBe(204);
});
