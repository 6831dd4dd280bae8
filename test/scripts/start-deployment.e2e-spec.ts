import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Comfy } from '@comfyorg/sdk';
import { eventually } from '@millrace/testing';
import { START_LIMIT_MS, ended, readRunFile, startReady, type RunFile, type Started } from './support/started';

const LIMIT_MS = 300_000;

interface Deployment {
  id: string;
  path: string;
  state: string;
  ready_workers: number;
}

const GRAPH = {
  '1': {
    class_type: 'MillraceReactionDiffusion',
    inputs: { width: 64, height: 64, steps: 10, seed: 1, feed: 0.055, kill: 0.062 },
  },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'grown' } },
};

/** As a person does it in a shell, with nothing else than what `npm start` prints. */
function curl({ publicUrl, apiKey }: RunFile, method: string, path: string, body?: object): string {
  const json = body === undefined ? [] : ['-H', 'content-type: application/json', '-d', JSON.stringify(body)];
  const key = ['-H', `authorization: Bearer ${apiKey}`];
  return execFileSync('curl', ['-sS', '-f', '-X', method, ...key, ...json, `${publicUrl}/platform/v1${path}`], {
    encoding: 'utf8',
  });
}

/** Where deployments can be ordered: the classes are there as soon as the fleet has read them. */
async function offered(run: RunFile): Promise<void> {
  await eventually(
    'the class to be offered',
    () => curl(run, 'GET', '/engine-classes').includes('"cpu"'),
    START_LIMIT_MS,
  );
}

const figures: string[] = [];
/** What it took, for people: what is asserted does not depend on how fast a machine is. */
function note(what: string, fromMs: number): void {
  figures.push(`${what}: ${((performance.now() - fromMs) / 1_000).toFixed(1)} s`);
}
afterAll(() => console.log(figures.join('\n')));

describe.each([
  ['npm start', []],
  ['npm start -- --remote-workers 1', ['--remote-workers', '1']],
])('%s', (command, flags) => {
  jest.setTimeout(2 * START_LIMIT_MS);
  let data: string;
  let running: Started | undefined;
  beforeAll(() => (data = mkdtempSync(join(tmpdir(), 'millrace-start-deployment-'))));
  afterAll(async () => {
    if (running !== undefined) {
      running.child.kill('SIGINT');
      await ended(running);
    }
    rmSync(data, { recursive: true, force: true });
  });

  it('a deployment made by one curl is ready, runs a job by the official client, sleeps, wakes, and is deleted', async () => {
    const startedMs = performance.now();
    running = await startReady(data, ...flags);
    note(`${command}, until the stack is ready`, startedMs);
    const run = readRunFile(data);
    await offered(run);

    const orderedMs = performance.now();
    const order = { name: 'grown', engine_class: 'cpu', min_workers: 1, idle_seconds: 1 };
    const made = JSON.parse(curl(run, 'POST', '/deployments', order)) as Deployment;
    const read = (): Deployment => JSON.parse(curl(run, 'GET', `/deployments/${made.id}`)) as Deployment;
    const is = (what: string, ready: boolean): Promise<unknown> =>
      eventually(
        `the deployment to be ${what}`,
        () => {
          const { state, ready_workers: workers } = read();
          return state === 'ready' && workers > 0 === ready;
        },
        LIMIT_MS,
      );
    await is('ready', true);
    note(`${command}, from the curl until the deployment is ready`, orderedMs);

    process.env.COMFY_BASE_URL = run.publicUrl + made.path;
    const official = new Comfy({ apiKey: run.apiKey });
    const job = async (): Promise<void> => {
      expect((await official.run(official.workflows.fromJson(GRAPH))).status).toBe('succeeded');
    };
    await job();

    curl(run, 'PATCH', `/deployments/${made.id}`, { min_workers: 0 });
    await is('without workers', false);
    const wokenMs = performance.now();
    await job();
    note(`${command}, a job that wakes it, until it has succeeded`, wokenMs);

    curl(run, 'DELETE', `/deployments/${made.id}?drain=true`);
    await eventually('the deployment to be gone', () => {
      return !curl(run, 'GET', '/deployments').includes(made.id);
    });
  });
});
