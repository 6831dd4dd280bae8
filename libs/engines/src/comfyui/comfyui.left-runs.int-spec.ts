import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startRun, type Graph } from '../../conformance/run-workflow';
import { ComfyuiSimulator, createTestFolder, type TestFolder } from '@millrace/testing';
import type { ComfyuiBounds } from './comfyui.config';
import { ComfyuiEngine } from './comfyui.engine';

/** No bound may be met on a busy machine but the one that a test sets. */
const BOUNDS: Partial<ComfyuiBounds> = { pollMs: 20, cancelEveryMs: 20, interruptGraceMs: 3_600_000 };

const sleeping = (salt: number): Graph => ({
  '1': { class_type: 'TestSleep', inputs: { seconds: 0, salt } },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'out' } },
});

const STEPPING: Graph = {
  '1': { class_type: 'TestSteps', inputs: { steps: 2, seconds_per_step: 0, salt: 1 } },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'out' } },
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
    for (const salt of [1, 2]) {
      const runId = randomUUID();
      mkdirSync(join(simulator.folders.output, 'millrace', runId), { recursive: true });
      const body = JSON.stringify({ prompt: sleeping(salt), prompt_id: runId, client_id: 'gone' });
      await fetch(`${simulator.url}/prompt`, { method: 'POST', body });
    }
    await hold.reached;
    mkdirSync(join(simulator.folders.output, 'millrace/of-another'), { recursive: true });
    const server = { mode: 'attach' as const, url: simulator.url, folders: simulator.folders };
    engine = new ComfyuiEngine({
      server: { ...server, ...(restartFile && { restartFile }) },
      bounds: { ...BOUNDS, ...bounds },
    });
    return { started: engine.start(), release: () => hold.release() };
  }

  it('is not ready, and takes no run, before that has left; then nothing of it is left', async () => {
    const { started, release } = await openBehind();
    await simulator.server.whenInterrupted(1);
    expect((await engine.health()).problem).toContain('its worker is gone');
    expect(await startRun(engine, STEPPING).result).toMatchObject({ status: 'lost' });
    release();
    await started;
    expect(await engine.health()).toMatchObject({ ready: true, problem: null });
    expect(simulator.server.queue.history.size).toBe(0);
    expect(readdirSync(join(simulator.folders.output, 'millrace'))).toEqual(['of-another']);
    expect(await startRun(engine, STEPPING).result).toEqual({ status: 'succeeded' });
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
});
