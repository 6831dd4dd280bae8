import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ApiClient,
  TestStack,
  createTestFolder,
  eventually,
  type TestAccount,
  type TestFolder,
} from '@millrace/testing';

let stack: TestStack;
let folder: TestFolder;
let account: TestAccount;
beforeAll(async () => {
  folder = await createTestFolder();
  stack = await TestStack.start({ workers: 0 });
  account = await stack.createAccount(100_000_000, { deployment_limit: 20, deployment_worker_limit: 20 });
  const file = join(folder.path, 'classes.json');
  const classes = [
    { name: 'cpu', engine: 'cpu' },
    { name: 'dearer', engine: 'cpu', priceMicrosPerSecond: 90 },
    // Its workers end at once: there is no ComfyUI.
    { name: 'broken', engine: 'comfyui' },
  ];
  writeFileSync(file, JSON.stringify({ classes }));
  const settings = { MILLRACE_FLEET: 'processes', MILLRACE_ENGINE_CLASSES_FILE: file, MILLRACE_FLEET_DIR: folder.path };
  await stack.spawn('fleet', settings);
});
afterAll(async () => {
  await stack.stop();
  await folder.drop();
});

interface Version {
  version: number;
  live: boolean;
  weight: number;
  state: string | null;
  state_reason: string | null;
  ready_workers: number;
  engine_class: string;
  pool: string;
  latest_jobs: {
    ended: number;
    succeeded: number;
    failed: number;
    median_engine_ms: number | null;
    median_charged_micros: number | null;
  };
}

const platform = (): ApiClient => new ApiClient(stack.publicUrl, account.apiKey);
async function act<T = { versions: Version[] }>(method: string, path: string, json?: object): Promise<T> {
  const { status, body, text } = await platform().call<T>(method, `/platform/v1/deployments${path}`, json && { json });
  if (status >= 300) throw new Error(`${status} ${text}`);
  return body;
}
const versionsOf = async (id: string): Promise<Version[]> => (await act('GET', `/${id}/versions`)).versions;
const isReady = (version: Version | undefined): boolean => version?.state === 'ready' && version.ready_workers > 0;
/** Long enough for a rollback and the loop that moves jobs after it, also on a busy machine. */
const LONG_STEPS = 60_000;
const graph = (steps = 5): object => ({
  '1': {
    class_type: 'MillraceReactionDiffusion',
    inputs: { width: 64, height: 64, steps, seed: 1, feed: 0.055, kill: 0.062 },
  },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'grown' } },
});
const at = (id: string): ApiClient => new ApiClient(`${stack.publicUrl}/deployment/${id}`, account.apiKey);
const poolOf = async (jobId: string): Promise<string> =>
  (await stack.test.database.models.job.findUniqueOrThrow({ where: { id: jobId } })).poolId;

async function create(): Promise<string> {
  const { id } = await act<{ id: string }>('POST', '', { name: 'a test', engine_class: 'cpu', min_workers: 1 });
  await eventually('the deployment to be ready', async () => isReady((await versionsOf(id))[0]), 120_000);
  return id;
}
async function submit(id: string, workflow = graph()): Promise<string> {
  const { status, body, text } = await at(id).submit(JSON.stringify({ workflow }));
  if (status !== 201) throw new Error(text);
  return body.id;
}

it('a share of the jobs runs on another version, at its price, and one call takes it back', async () => {
  const id = await create();
  const added = await act('POST', `/${id}/versions`, { engine_class: 'dearer', weight: 100 });
  expect(added.versions.map(({ version, weight, engine_class }) => [version, weight, engine_class])).toEqual([
    [2, 100, 'dearer'],
    [1, 0, 'cpu'],
  ]);
  await eventually('the new version to be ready', async () => isReady((await versionsOf(id))[0]), 120_000);
  const tried = await eventually('a job on the new version', async () => {
    const job = await submit(id);
    return (await poolOf(job)) === `${id}-v2` && job;
  });
  expect((await at(id).ended(tried)).status).toBe('succeeded');
  const record = await stack.test.database.models.usageRecord.findUniqueOrThrow({ where: { jobId: tried } });
  expect(record.deploymentVersion).toBe(2);
  const usage = await platform().call<{ rows: { group: string }[] }>('GET', '/platform/v1/usage?group_by=version');
  expect(usage.text).toContain(`${id}/2`);
  const { ended: jobs, ...came } = (await versionsOf(id))[0]?.latest_jobs ?? { ended: 0 };
  expect(jobs).toBeGreaterThan(0);
  const median = { median_engine_ms: Number(record.billableMs), median_charged_micros: Number(record.chargedMicros) };
  expect([came, record.billableMs > 0n]).toEqual([{ succeeded: jobs, failed: 0, ...median }, true]);
  const back = await act('POST', `/${id}/rollback`);
  expect(back.versions.map(({ version, weight }) => [version, weight])).toEqual([
    [2, 0],
    [1, 100],
  ]);
  await eventually('jobs to run on the first version', async () => (await poolOf(await submit(id))) === id);
  const ended = await act('DELETE', `/${id}/versions/2`);
  expect(ended.versions.map(({ version, live }) => [version, live])).toEqual([
    [2, false],
    [1, true],
  ]);
  await eventually('its workers to be gone', async () => {
    const workers = await stack.test.database.models.worker.findMany({ where: { poolId: `${id}-v2` } });
    return workers.every(({ state }) => state === 'stopped');
  });
  const changes = await act<{ changes: { action: string }[] }>('GET', `/${id}/changes`);
  expect(changes.changes.map(({ action }) => action)).toEqual([
    'deployment.version_end',
    'deployment.rollback',
    'deployment.version_add',
    'deployment.create',
  ]);
  await act('DELETE', `/${id}?drain=true`).catch(() => undefined);
});

it('a version that does not start takes no jobs, and says why', async () => {
  const id = await create();
  await act('POST', `/${id}/versions`, { engine_class: 'broken', weight: 100 });
  await eventually(
    'the new version to say why',
    async () => /engine failed to start/.test((await versionsOf(id))[0]?.state_reason ?? ''),
    120_000,
  );
  // The version that works takes the jobs of the other, with a share and without.
  for (let index = 0; index < 3; index += 1) expect(await poolOf(await submit(id))).toBe(id);
  await act('PATCH', `/${id}/versions/2`, { weight: 90 });
  for (let index = 0; index < 3; index += 1) expect(await poolOf(await submit(id))).toBe(id);
  await act('POST', `/${id}/rollback`);
  await act('DELETE', `/${id}?drain=true`).catch(() => undefined);
});

it('jobs that wait for the newer version run on the older one after a rollback; what runs there runs to its end', async () => {
  const id = await create();
  await act('POST', `/${id}/versions`, { weight: 100 });
  await eventually('the new version to be ready', async () => isReady((await versionsOf(id))[0]), 120_000);
  const running = await eventually('a long job on the new version', async () => {
    const job = await submit(id, graph(LONG_STEPS));
    return (await poolOf(job)) === `${id}-v2` && job;
  });
  await eventually('it to run', async () => (await at(id).job(running)).status === 'running');
  const waiting = await submit(id);
  await act('POST', `/${id}/rollback`);
  expect((await at(id).ended(waiting)).status).toBe('succeeded');
  expect([await poolOf(waiting), await poolOf(running)]).toEqual([id, `${id}-v2`]);
  const { versions } = await act('DELETE', `/${id}/versions/1`);
  expect(versions.find(({ live }) => live)?.version).toBe(2);
  expect((await at(id).ended(running)).status).toBe('succeeded');
  const next = await submit(id);
  expect(await poolOf(next)).toBe(`${id}-v2`);
  expect((await at(id).ended(next)).status).toBe('succeeded');
  await act('DELETE', `/${id}?drain=true`).catch(() => undefined);
});
