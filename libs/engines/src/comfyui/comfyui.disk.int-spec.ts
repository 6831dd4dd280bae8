import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startRun, type Graph } from '../../conformance/run-workflow';
import { ComfyuiSimulator, NodeRaised, createTestFolder, type NodeClass, type TestFolder } from '@millrace/testing';
import type { AttachOptions, ComfyuiBounds } from './comfyui.config';
import { ComfyuiEngine } from './comfyui.engine';

const NEVER_MS = 3_600_000;
/** On a busy machine no bound may be met. */
const BOUNDS: Partial<ComfyuiBounds> = {
  pollMs: 20,
  cancelEveryMs: 20,
  interruptGraceMs: NEVER_MS,
  unreachableMs: NEVER_MS,
};

const STEPPING: Graph = {
  '1': { class_type: 'TestSteps', inputs: { steps: 6, seconds_per_step: 0, salt: 1 } },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'out' } },
};

const writing: Graph = { '1': { class_type: 'Writing', inputs: {} } };

const Writing: NodeClass = {
  outputNode: true,
  run: () => {
    throw new NodeRaised('OSError', "[Errno 28] No space left on device: '/srv/comfyui/output/a.png'");
  },
};

describe('an engine attached to a ComfyUI whose disk takes nothing', () => {
  let folder: TestFolder;
  let simulator: ComfyuiSimulator;
  let engine: ComfyuiEngine;

  /** A simulator, and an engine attached to it; both are taken down after the test. */
  async function open(attach: (simulator: ComfyuiSimulator) => Partial<AttachOptions> = () => ({})): Promise<void> {
    simulator = await ComfyuiSimulator.start({ classes: { Writing } });
    const server = { mode: 'attach' as const, url: simulator.url, ...attach(simulator) };
    engine = new ComfyuiEngine({ server, bounds: BOUNDS });
    await engine.start();
  }

  beforeAll(async () => {
    folder = await createTestFolder();
  });
  afterAll(() => folder.drop());
  afterEach(async () => {
    await engine.close();
    await simulator.stop();
  });

  it('is no fault of the node, and takes no run until its folders can be written to', async () => {
    const restartFile = join(folder.path, 'restart-of-disk');
    await open(({ folders }) => ({ folders, restartFile }));
    const { output } = simulator.folders;
    rmSync(output, { recursive: true, force: true });
    writeFileSync(output, 'in the way');
    expect(await startRun(engine, writing).result).toEqual({
      status: 'disk_failed',
      reason: 'the disk of its worker is full (ENOSPC)',
    });
    expect(await engine.health()).toMatchObject({
      ready: false,
      problem: 'The folders of ComfyUI cannot be written to: ENOTDIR.',
    });
    rmSync(output);
    expect(await engine.health()).toMatchObject({ ready: true, problem: null });
    expect(await startRun(engine, STEPPING).result).toEqual({ status: 'succeeded' });
    expect(existsSync(restartFile)).toBe(false);
  });

  describe('where its folders are out of reach', () => {
    const full = { ready: false, problem: 'The folders of ComfyUI cannot be written to: EIO.' };

    it.each(['input', 'output', 'temp'] as const)(
      'is no fault of the node either, and it takes no run until it takes a file: %s',
      async (name) => {
        await open();
        const path = simulator.folders[name];
        rmSync(path, { recursive: true, force: true });
        writeFileSync(path, 'in the way');
        expect(await startRun(engine, writing).result).toMatchObject({ status: 'disk_failed' });
        expect(await engine.health()).toMatchObject(full);
        expect(await engine.health()).toMatchObject(full);
        rmSync(path);
        expect(await engine.health()).toMatchObject({ ready: true, problem: null });
        // What proved it takes no room: the next proof has to find some.
        const left = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
        expect(left.map((file) => statSync(join(file.parentPath, file.name)).size)).toEqual([0]);
        expect(await startRun(engine, STEPPING).result).toEqual({ status: 'succeeded' });
      },
    );

    it('is to blame for an input that it does not take, and it takes no run until it takes a file', async () => {
      await open();
      const { input } = simulator.folders;
      rmSync(input, { recursive: true, force: true });
      writeFileSync(input, 'in the way');
      const path = join(folder.path, 'input.png');
      writeFileSync(path, 'bytes');
      const inputs = [{ name: 'input.png', path, contentType: 'image/png' }];
      const loading: Graph = {
        '1': { class_type: 'LoadImage', inputs: { image: 'input.png' } },
        '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'out' } },
      };
      expect(await startRun(engine, loading, { inputs }).result).toEqual({
        status: 'disk_failed',
        reason: 'the disk of its worker failed (EIO)',
      });
      expect(await engine.health()).toMatchObject(full);
    });
  });
});
