import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startRun, type Graph } from '../../conformance/run-workflow';
import { ComfyuiSimulator, createTestFolder, eventually, type TestFolder } from '@millrace/testing';
import type { ComfyuiBounds } from './comfyui.config';
import { ComfyuiEngine } from './comfyui.engine';

/** No bound may be met on a busy machine but the one that a test sets. */
const BOUNDS: Partial<ComfyuiBounds> = { pollMs: 20, cancelEveryMs: 20, interruptGraceMs: 3_600_000 };

const saving = (prefix: string): Graph[string] => ({
  class_type: 'SaveImage',
  inputs: { images: ['1', 0], filename_prefix: prefix },
});

const sleeping = (salt: number): Graph => ({
  '1': { class_type: 'TestSleep', inputs: { seconds: 0, salt } },
  '2': saving('out'),
});

const STEPPING: Graph = {
  '1': { class_type: 'TestSteps', inputs: { steps: 2, seconds_per_step: 0, salt: 1 } },
  '2': saving('out'),
};

describe('an engine attached to a ComfyUI that still has what a worker left that died', () => {
  let folder: TestFolder;
  let simulator: ComfyuiSimulator;
  let engine: ComfyuiEngine;

  beforeAll(async () => {
    folder = await createTestFolder();
  });
  afterAll(() => folder.drop());
  afterEach(async () => {
    await engine.close();
    await simulator.stop();
  });

  /** The run of a worker that is gone, and another that it had posted, both on the server. */
  async function openBehind(
    bounds: Partial<ComfyuiBounds> = {},
    restartFile?: string,
  ): Promise<{ started: Promise<void>; release: () => void }> {
    simulator = await ComfyuiSimulator.start();
    const hold = simulator.server.holds.hold({ classType: 'TestSleep', step: 1 });
    for (const salt of [1, 2]) await post(sleeping(salt), makeFolders(randomUUID()));
    await hold.reached;
    makeFolders('of-another');
    engine = attached(bounds, restartFile);
    return { started: engine.start(), release: () => hold.release() };
  }

  /** The folders of a run, of which this returns the id. */
  function makeFolders(runId: string): string {
    const { input, output } = simulator.folders;
    for (const folder of [input, output]) mkdirSync(join(folder, 'millrace', runId), { recursive: true });
    return runId;
  }

  const foldersLeft = (): string[] => {
    const { input, output } = simulator.folders;
    return [input, output].flatMap((folder) => readdirSync(join(folder, 'millrace')));
  };

  async function post(graph: Graph, runId: string): Promise<void> {
    const body = JSON.stringify({ prompt: graph, prompt_id: runId, client_id: 'gone' });
    await fetch(`${simulator.url}/prompt`, { method: 'POST', body });
  }

  function attached(
    bounds: Partial<ComfyuiBounds>,
    restartFile?: string,
    onNotice: (notice: string) => void = () => undefined,
  ): ComfyuiEngine {
    const server = { mode: 'attach' as const, url: simulator.url, folders: simulator.folders };
    return new ComfyuiEngine({
      server: { ...server, ...(restartFile && { restartFile }) },
      bounds: { ...BOUNDS, ...bounds },
      onNotice,
    });
  }

  it('is not ready, and takes no run, before that has left; then nothing of it is left', async () => {
    const { started, release } = await openBehind();
    await simulator.server.whenInterrupted(1);
    expect((await engine.health()).problem).toContain('whose worker is gone: it is being ended');
    expect(await startRun(engine, STEPPING).result).toMatchObject({ status: 'lost' });
    release();
    await started;
    expect(await engine.health()).toMatchObject({ ready: true, problem: null });
    expect(simulator.server.queue.history.size).toBe(0);
    expect(foldersLeft()).toEqual(['of-another', 'of-another']);
    expect(await startRun(engine, STEPPING).result).toEqual({ status: 'succeeded' });
  });

  it('lets nothing pass that a node of it was blocked with', async () => {
    const graph: Graph = {
      '3': { class_type: 'TestBlock', inputs: { message: 'not allowed', salt: 1 } },
      '5': { class_type: 'ImageBatch', inputs: { image1: ['3', 0], image2: ['3', 0] } },
      '4': { ...saving('out'), inputs: { images: ['5', 0], filename_prefix: 'out' } },
      '6': { class_type: 'TestSleep', inputs: { seconds: 0, salt: 1 } },
      '7': { ...saving('other'), inputs: { images: ['6', 0], filename_prefix: 'other' } },
    };
    simulator = await ComfyuiSimulator.start();
    const hold = simulator.server.holds.hold({ nodeId: '7', step: 0 });
    engine = attached({});
    await engine.start();
    const left = startRun(engine, graph, { cacheScope: 'one' });
    await hold.reached;
    await engine.close();
    expect(await left.result).toMatchObject({ status: 'lost' });
    engine = attached({});
    const started = engine.start();
    await simulator.server.whenInterrupted(1);
    hold.release();
    await started;
    expect(await startRun(engine, graph, { cacheScope: 'one' }).result).toMatchObject({
      status: 'failed',
      failure: { message: 'Execution Blocked: not allowed' },
    });
  });

  it('leaves no file of a run that ended meanwhile, and those of others', async () => {
    simulator = await ComfyuiSimulator.start();
    await post(STEPPING, makeFolders(randomUUID()));
    // Of somebody who uses the server as well: its files are not where those of runs are.
    await post({ ...STEPPING, '2': saving('theirs') }, randomUUID());
    await simulator.server.whenIdle();
    makeFolders('of-another');
    engine = attached({});
    await engine.start();
    expect(foldersLeft()).toEqual(['of-another', 'of-another']);
    expect(readdirSync(simulator.folders.output)).toContainEqual(expect.stringMatching(/^theirs/));
    expect(simulator.server.queue.history.size).toBe(0);
    // Nobody listened to it: a node of it may have been blocked.
    expect(simulator.server.memoryFreed).toBe(1);
  });

  it('forgets a run that ended only once its files are gone', async () => {
    simulator = await ComfyuiSimulator.start();
    await post(STEPPING, makeFolders(randomUUID()));
    await simulator.server.whenIdle();
    const left: string[][] = [];
    const clear = jest.spyOn(simulator.server.queue.history, 'clear');
    clear.mockImplementationOnce(() => void left.push(foldersLeft()));
    engine = attached({});
    await engine.start();
    expect(left).toEqual([[]]);
  });

  it('goes on removing what has not changed for a day', async () => {
    simulator = await ComfyuiSimulator.start();
    engine = attached({ sweepMs: 20 });
    await engine.start();
    makeFolders('new');
    makeFolders('old');
    const old = new Date(Date.now() - 25 * 3_600_000);
    for (const folder of [simulator.folders.input, simulator.folders.output])
      utimesSync(join(folder, 'millrace/old'), old, old);
    await eventually('the old folders are gone', () => foldersLeft().length === 2);
    expect(foldersLeft()).toEqual(['new', 'new']);
  });

  it('says of a run that goes on that its files are in use, also to engines with the same folders', async () => {
    simulator = await ComfyuiSimulator.start();
    engine = attached({ sweepMs: 20 });
    await engine.start();
    const hold = simulator.server.holds.hold({ classType: 'TestSleep', step: 1 });
    const path = join(folder.path, 'given.png');
    writeFileSync(path, 'pixels');
    const run = startRun(engine, sleeping(3), { inputs: [{ name: 'given.png', path, contentType: 'image/png' }] });
    await hold.reached;
    const staged = join(simulator.folders.input, 'millrace', run.runId);
    const old = new Date(Date.now() - 23 * 3_600_000);
    utimesSync(staged, old, old);
    await eventually('its folder is used', () => statSync(staged).mtimeMs > Date.now() - 3_600_000);
    hold.release();
    expect(await run.result).toEqual({ status: 'succeeded' });
  });

  it('has it restarted by who runs it where a run ignores the interrupt', async () => {
    const restartFile = join(folder.path, 'restart-behind');
    await (
      await openBehind({ interruptGraceMs: 100 }, restartFile)
    ).started;
    expect(existsSync(restartFile)).toBe(true);
    expect(await engine.health()).toMatchObject({ ready: false });
    rmSync(restartFile);
  });

  it('has it restarted by who runs it where it falls silent as they are ended', async () => {
    const restartFile = join(folder.path, 'restart-of-silent');
    simulator = await ComfyuiSimulator.start();
    const hold = simulator.server.holds.hold({ classType: 'TestSleep', step: 1 });
    await post(sleeping(1), makeFolders(randomUUID()));
    await hold.reached;
    let thaw = (): void => undefined;
    engine = attached({ interruptGraceMs: 100, requestMs: 2_000 }, restartFile, (notice) => {
      if (notice.endsWith('is ended.')) thaw = simulator.server.faults.freeze();
    });
    await engine.start();
    expect(await engine.health()).toMatchObject({
      ready: false,
      problem: 'ComfyUI hung, and its restart was requested.',
    });
    rmSync(restartFile);
    thaw();
    hold.release();
  });
});
