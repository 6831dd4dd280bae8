import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { JobsClient } from './client';
import { FakeHost } from './fixtures/fake-host';
import { JOB_ID, JOB_PATH, jobOf, succeeded } from './fixtures/sample-jobs';
import { type Answer, events, json, refusal, StandInService } from './fixtures/stand-in-service';
import { runCli } from './program';

const RUNNING = jobOf({ status: 'running' });

let service: StandInService;
let folder: string;
let host: FakeHost;

beforeEach(async () => {
  service = await StandInService.start();
  folder = await mkdtemp(join(tmpdir(), 'millrace-cli-'));
  host = new FakeHost({ env: { MILLRACE_URL: service.url } });
  await writeFile(join(folder, 'graph.json'), '{}');
  service.on('POST /api/v2/jobs', json(201, jobOf())).on(`GET ${JOB_PATH}`, json(200, RUNNING));
  service.on(`GET ${JOB_PATH}/events`, events([['status', RUNNING]], 'open'));
});

afterEach(async () => {
  jest.restoreAllMocks();
  await service.close();
  await rm(folder, { recursive: true });
});

function run(...args: string[]): Promise<number> {
  return runCli(['run', join(folder, 'graph.json'), '--no-out', ...args], host);
}

/** The program as a process of its own, from its build. */
function started(...args: string[]): { child: ChildProcess; code: Promise<number | null> } {
  const main = join(process.cwd(), 'dist/apps/cli/src/main.js');
  const env = { PATH: process.env.PATH, MILLRACE_URL: service.url };
  const child = spawn(process.execPath, [main, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  return { child, code: once(child, 'exit').then(([code]) => code as number | null) };
}

/** From the cancel request on the job is canceled, as every read says. */
function cancelable(): void {
  service.on(`POST ${JOB_PATH}/cancel`, (response, request) => {
    service.on(`GET ${JOB_PATH}`, json(200, succeeded({ status: 'canceled' })));
    return json(200, jobOf({ status: 'canceling' }))(response, request);
  });
}

describe('Ctrl-C during a run', () => {
  it('cancels the job and waits for its end', async () => {
    cancelable();
    const code = run();
    await host.noting('running');
    host.pressCtrlC();
    expect(await code).toBe(4);
    expect(service.requests(`POST ${JOB_PATH}/cancel`)).toHaveLength(1);
    expect(host.noted).toContain('Canceling the job; press Ctrl-C again');
  });

  it('twice leaves at once and says how to watch again', async () => {
    service.on(`POST ${JOB_PATH}/cancel`, json(200, jobOf({ status: 'canceling' })));
    const cancel = jest.spyOn(JobsClient.prototype, 'cancel');
    const code = run();
    await host.noting('running');
    host.pressCtrlC();
    await cancel.mock.results[0]?.value;
    await new Promise(setImmediate);
    host.pressCtrlC();
    expect(await code).toBe(130);
    expect(host.noted).toContain('its cancellation was requested');
    expect(host.noted).toContain(`millrace watch ${JOB_ID}`);
  });

  it.each<[string, Answer, string]>([
    ['is not there yet', () => undefined, 'Canceling the job'],
    ['was lost', (response) => void response.destroy(), 'did not arrive'],
  ])(
    'twice, where the answer to the cancellation %s, says that its outcome is not known',
    async (_what, answer, noted) => {
      service.on(`POST ${JOB_PATH}/cancel`, answer);
      const code = run();
      await host.noting('running');
      host.pressCtrlC();
      await service.asked(`POST ${JOB_PATH}/cancel`);
      await host.noting(noted);
      host.pressCtrlC();
      expect(await code).toBe(130);
      expect(host.noted).toMatch(
        new RegExp(`whether its cancellation arrived is not known\\.\\n.*millrace jobs cancel ${JOB_ID}`),
      );
      expect(host.noted).not.toMatch(/was requested|could not be canceled/);
    },
  );

  it('twice, where the cancellation was refused, says that the job was not canceled', async () => {
    service.on(`POST ${JOB_PATH}/cancel`, refusal(403, 'forbidden', 'The key lacks the scope jobs:write.'));
    const code = run();
    await host.noting('running');
    host.pressCtrlC();
    await host.noting('lacks the scope');
    host.pressCtrlC();
    expect(await code).toBe(130);
    expect(host.noted).toMatch(/could not be canceled\.\n.*millrace jobs cancel/);
    expect(host.noted).not.toContain('cancellation was requested');
  });

  it('cancels the job also where the reader of its notes is gone', async () => {
    cancelable();
    service.on(`GET ${JOB_PATH}/events`, events([['status', RUNNING]]));
    const { child, code } = started('run', join(folder, 'graph.json'), '--no-out');
    await service.asked(`GET ${JOB_PATH}/events`);
    child.stderr?.destroy();
    await once(child.stderr as Readable, 'close');
    child.kill('SIGINT');
    expect(await code).toBe(4);
    expect(service.requests(`POST ${JOB_PATH}/cancel`)).toHaveLength(1);
  });

  it('leaves the job alone under --on-interrupt detach', async () => {
    const code = run('--on-interrupt', 'detach');
    await host.noting('running');
    host.pressCtrlC();
    expect(await code).toBe(130);
    expect(service.requests(`POST ${JOB_PATH}/cancel`)).toHaveLength(0);
  });

  it('while the submission is under way waits for its answer, then cancels the job that came of it', async () => {
    cancelable();
    let admit = (): void => undefined;
    service.on('POST /api/v2/jobs', (response, request) => {
      admit = () => void json(201, jobOf())(response, request);
    });
    const code = run();
    await service.asked('POST /api/v2/jobs');
    host.pressCtrlC();
    expect(host.noted).toContain('Waiting for the answer');
    admit();
    expect(await code).toBe(4);
  });

  it('while a submission is under way that is then refused leaves it at that', async () => {
    const full = json(429, { error: { code: 'queue_full', message: 'The queue is full.' } }, { 'retry-after': '1' });
    service.on('POST /api/v2/jobs', (response, request) => {
      host.pressCtrlC();
      return full(response, request);
    });
    expect(await run()).toBe(130);
    expect(service.requests('POST /api/v2/jobs')).toHaveLength(1);
    expect(host.noted).toContain('no job was created');
  });

  it('while the service asks to wait ends the wait, and no job is left', async () => {
    const full = json(429, { error: { code: 'queue_full', message: 'The queue is full.' } }, { 'retry-after': '500' });
    service.on('POST /api/v2/jobs', full);
    const code = run();
    await host.noting('The queue is full');
    host.pressCtrlC();
    expect(await code).toBe(130);
    expect(host.noted).toContain('Interrupted; no job was created.');
  });
});

describe('Ctrl-C while standard input is read', () => {
  it.each([
    ['run', 'Interrupted; no job was created.'],
    ['submit', 'Interrupted; no job was created.'],
    ['estimate', 'Interrupted; nothing was estimated.'],
  ])('ends %s at once', async (verb, said) => {
    const stdin = new PassThrough();
    host = new FakeHost({ env: { MILLRACE_URL: service.url }, stdin });
    const reading = new Promise<void>((resolve) =>
      stdin.on('newListener', (event) => event === 'readable' && resolve()),
    );
    const code = runCli([verb, '-'], host);
    await reading;
    host.pressCtrlC();
    expect(await code).toBe(130);
    expect(host.noted).toContain(said);
    expect(service.received).toEqual([]);
  });
});

describe('Ctrl-C after the end of the job', () => {
  const never = (): void => undefined;

  it.each([
    ['run', () => run()],
    ['watch', () => runCli(['watch', JOB_ID, '--out', folder], host)],
  ])('leaves %s at once while the times of its nodes do not come, and names the job', async (_verb, begin) => {
    service
      .on(`GET ${JOB_PATH}/events`, events([['status', succeeded()]]))
      .on(`GET ${JOB_PATH}`, json(200, succeeded()));
    service.on(`GET ${JOB_PATH}/nodes`, never);
    const code = begin();
    await service.asked(`GET ${JOB_PATH}/nodes`);
    host.pressCtrlC();
    expect(await code).toBe(130);
    expect(host.noted).toContain(JOB_ID);
    expect(host.noted).toContain('succeeded');
  });

  it('leaves while a failed read of them is about to be repeated', async () => {
    host = new FakeHost({ env: { MILLRACE_URL: service.url }, speed: 0.001 });
    service
      .on(`GET ${JOB_PATH}/events`, events([['status', succeeded()]]))
      .on(`GET ${JOB_PATH}`, json(200, succeeded()));
    service.on(`GET ${JOB_PATH}/nodes`, (response) => {
      response.destroy();
      setImmediate(() => host.pressCtrlC());
    });
    expect(await run()).toBe(130);
    expect(host.noted).toContain(JOB_ID);
  });
});

describe('Ctrl-C while watching', () => {
  it('leaves the job alone', async () => {
    const code = runCli(['watch', JOB_ID], host);
    await host.noting('running');
    host.pressCtrlC();
    expect(await code).toBe(130);
    expect(service.requests(`POST ${JOB_PATH}/cancel`)).toHaveLength(0);
  });
});
