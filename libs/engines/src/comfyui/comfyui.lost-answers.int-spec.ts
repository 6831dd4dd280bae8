import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lossOf, startRun, type Graph, type RunUnderTest } from '../../conformance/run-workflow';
import { ComfyuiSimulator, createTestFolder, eventually, type TestFolder } from '@millrace/testing';
import type { ComfyuiBounds } from './comfyui.config';
import { ComfyuiEngine } from './comfyui.engine';
import { ComfyuiClient } from './protocol';

const NEVER_MS = 3_600_000;
const BOUNDS: Partial<ComfyuiBounds> = { pollMs: 20, cancelEveryMs: 20 };

const RUN = '0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f9';

const STEPPING: Graph = {
  '1': { class_type: 'TestSteps', inputs: { steps: 2, seconds_per_step: 0, salt: 1 } },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'out' } },
};

describe('an engine whose post arrives while its answer is lost', () => {
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

  async function open(restartFile?: string): Promise<void> {
    simulator = await ComfyuiSimulator.start();
    const server = { mode: 'attach' as const, url: simulator.url, folders: simulator.folders };
    // Where nothing is restarted, the run goes on until it is released.
    const interruptGraceMs = restartFile === undefined ? NEVER_MS : 100;
    const bounds = { ...BOUNDS, interruptGraceMs };
    engine = new ComfyuiEngine({ server: { ...server, ...(restartFile && { restartFile }) }, bounds });
    await engine.start();
  }

  /** A run that the server has and goes on with, until it is released. */
  async function startHeld(): Promise<{ run: RunUnderTest; release: () => void }> {
    const hold = simulator.server.holds.hold({ classType: 'TestSteps', step: 1 });
    const run = startRun(engine, STEPPING, { runId: RUN });
    await hold.reached;
    return { run, release: () => hold.release() };
  }

  function loseAnswers(): void {
    simulator.server.faults.next('POST /prompt', 'reset_after');
    simulator.server.faults.next(`GET /history/${RUN}`, { status: 503 });
  }

  /** The run is lost, and the next is not posted before it has left the server. */
  async function expectGivenUp({ run, release }: Awaited<ReturnType<typeof startHeld>>): Promise<void> {
    await lossOf(run);
    expect((await engine.health()).problem).toContain('was given up');
    expect(await startRun(engine, STEPPING).result).toMatchObject({ status: 'lost' });
    expect(simulator.server.posted.map(({ promptId }) => promptId)).toEqual([RUN]);
    release();
    await simulator.server.whenIdle();
    expect(await startRun(engine, STEPPING).result).toEqual({ status: 'succeeded' });
  }

  it('gives the run up where a gateway answers for the server', async () => {
    await open();
    loseAnswers();
    await expectGivenUp(await startHeld());
  });

  it('gives the run up after any other error once it was posted', async () => {
    await open();
    const post = jest.spyOn(ComfyuiClient.prototype, 'postPrompt').mockImplementationOnce(async (body) => {
      await fetch(`${simulator.url}/prompt`, { method: 'POST', body });
      throw new Error('not foreseen');
    });
    await expectGivenUp(await startHeld());
    post.mockRestore();
  });

  it('has the server restarted by who runs it', async () => {
    const restartFile = join(folder.path, 'restart');
    await open(restartFile);
    loseAnswers();
    const { run, release } = await startHeld();
    await lossOf(run);
    await eventually('its restart is requested', () => existsSync(restartFile));
    release();
  });
});
