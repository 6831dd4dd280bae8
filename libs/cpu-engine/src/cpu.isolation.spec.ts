import childProcess, { type ForkOptions } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { startRun, type Graph, type RunUnderTest } from '@millrace/engines/conformance';
import { CpuEngine } from './cpu.engine';

const MIB = 1024 * 1024;
const node = (class_type: string, inputs: Record<string, unknown>): Graph[string] => ({ class_type, inputs });
const empty = (side: number): Graph[string] =>
  node('EmptyImage', { width: side, height: side, batch_size: 1, color: 0x336699 });
const save = (from: string): Graph[string] => node('SaveImage', { images: [from, 0], filename_prefix: 'x' });
const SMALL: Graph = { '1': empty(8), '2': save('1') };
const ENDLESS: Graph = {
  '1': node('MillraceReactionDiffusion', { width: 64, height: 64, steps: 100_000, seed: 1, feed: 0.037, kill: 0.06 }),
  '2': save('1'),
};

/** Processes that this one has started and that still run. */
function children(): number[] {
  return readdirSync('/proc/self/task').flatMap((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
}

/**
 * The next process is none, as at the limit of a machine or a container: Node.js says so by an event, and of no exit. Where files cannot
 * be opened either, there is no way to send it anything.
 */
function failNextFork(code: 'ENOENT' | 'EMFILE'): void {
  const { ChildProcess, fork } = childProcess;
  const failing = (path: string, options: ForkOptions): childProcess.ChildProcess => {
    if (code === 'ENOENT') return fork(path, { ...options, execPath: '/nowhere/node' });
    // As Node.js leaves it: without a handle. Ending one that has a handle and no process would end all processes of this group.
    const child = Object.assign(new ChildProcess(), { _handle: null });
    process.nextTick(() => child.emit('error', Object.assign(new Error(`spawn ${code}`), { code })));
    return child;
  };
  jest.spyOn(childProcess, 'fork').mockImplementationOnce(failing as typeof fork);
}

/** An engine, and the number of its process. */
async function opened(settings: ConstructorParameters<typeof CpuEngine>[0] = {}): Promise<[CpuEngine, number]> {
  const before = children();
  const engine = new CpuEngine(settings);
  await engine.start();
  return [engine, children().find((pid) => !before.includes(pid)) as number];
}

describe('the process in which nodes are computed', () => {
  const engines: CpuEngine[] = [];
  async function open(settings = {}): Promise<[CpuEngine, number]> {
    const [engine, pid] = await opened(settings);
    engines.push(engine);
    return [engine, pid];
  }
  afterEach(() => Promise.all(engines.splice(0).map((engine) => engine.close())));
  afterEach(() => jest.restoreAllMocks());

  async function computing(engine: CpuEngine): Promise<RunUnderTest> {
    const run = startRun(engine, ENDLESS);
    await run.seen('node_step');
    return run;
  }

  it('is ended when it takes more memory than it may: its run fails, its neighbour and the next run go on', async () => {
    const [engine] = await open({ residentBytes: 350 * MIB });
    const [neighbour] = await open();
    const beside = await computing(neighbour);
    const run = startRun(engine, { '1': empty(8), '2': empty(6_144), '3': save('2') });
    expect(await run.result).toEqual({
      status: 'failed',
      failure: {
        code: 'node_execution_error',
        message: 'The run took more than 350 MiB of memory here and was stopped. Use smaller pictures or batches.',
        nodeId: '2',
        classType: 'EmptyImage',
        traceback: null,
      },
    });
    expect(await startRun(engine, SMALL).result).toEqual({ status: 'succeeded' });
    beside.abort();
    expect(await beside.result).toEqual({ status: 'interrupted' });
  });

  it.each([
    ['SIGSEGV', 'failed'],
    ['SIGABRT', 'failed'],
    ['SIGKILL', 'lost'],
  ] as const)('makes its run, when %s ends it while it computes, %s', async (signal, status) => {
    const [engine, pid] = await open();
    const run = await computing(engine);
    process.kill(pid, signal);
    expect(await run.result).toMatchObject({
      status,
      ...(status === 'failed' && { failure: { code: 'node_execution_error', nodeId: '1' } }),
    });
    expect(await startRun(engine, SMALL).result).toEqual({ status: 'succeeded' });
    expect(await engine.health()).toMatchObject({ ready: true });
  });

  it.each(['ENOENT', 'EMFILE'] as const)('that cannot be started fails the start of its engine: %s', async (code) => {
    const engine = new CpuEngine();
    engines.push(engine);
    failNextFork(code);
    const problem = `The compute process could not be started: ${code}.`;
    await expect(engine.start()).rejects.toThrow(problem);
    expect(await engine.health()).toMatchObject({ ready: false, problem });
    expect(await startRun(engine, SMALL).result).toEqual({ status: 'succeeded' });
    expect(await engine.health()).toMatchObject({ ready: true });
  });

  it('whose successor cannot be started leaves an engine that is not ready and loses its runs, and tries again', async () => {
    const [engine, pid] = await open();
    const run = await computing(engine);
    failNextFork('ENOENT');
    process.kill(pid, 'SIGKILL');
    expect(await run.result).toMatchObject({ status: 'lost' });
    const reason = 'The compute process could not be started: ENOENT.';
    expect(await startRun(engine, SMALL).result).toEqual({ status: 'lost', reason });
    expect(await engine.health()).toMatchObject({ ready: false, problem: reason });
    expect(await startRun(engine, SMALL).result).toEqual({ status: 'succeeded' });
    expect(await engine.health()).toMatchObject({ ready: true });
  });

  it('does not end by a signal to the whole group of processes, which is for the worker to act on', async () => {
    const [engine, pid] = await open();
    const run = await computing(engine);
    process.kill(pid, 'SIGTERM');
    process.kill(pid, 'SIGINT');
    await run.seen('preview');
    run.abort();
    expect(await run.result).toEqual({ status: 'interrupted' });
    expect(children()).toContain(pid);
  });

  it('has nothing of the environment of the process that started it', async () => {
    process.env.MILLRACE_DATABASE_URL = 'postgres://secret';
    const [, pid] = await open();
    delete process.env.MILLRACE_DATABASE_URL;
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toMatch(/MILLRACE|PATH|secret/);
  });

  it('has a successor after so many runs, without a run that notices', async () => {
    const [engine, pid] = await open({ runsPerProcess: 2 });
    for (let run = 0; run < 5; run += 1) {
      expect(await startRun(engine, SMALL).result).toEqual({ status: 'succeeded' });
      expect(await engine.health()).toMatchObject({ ready: true, problem: null });
    }
    expect(children()).not.toContain(pid);
  });
});
