import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { lossOf, startRun, type Graph } from '../../conformance/run-workflow';
import {
  ComfyuiSimulator,
  createTestFolder,
  eventually,
  type NodeClass,
  type SimulatedServerOptions,
  type TestFolder,
} from '@millrace/testing';
import type { AttachOptions, ComfyuiBounds } from './comfyui.config';
import { ComfyuiEngine } from './comfyui.engine';
import { catalogueDigest } from './graph/object-info';

const NEVER_MS = 3_600_000;

/** A test that waits for an engine to give up sets that bound: on a busy machine no other may be met. */
const BOUNDS: Partial<ComfyuiBounds> = {
  pollMs: 20,
  cancelEveryMs: 20,
  interruptGraceMs: NEVER_MS,
  unreachableMs: NEVER_MS,
  reconnectPauseMs: 10,
  logDrainMs: 250,
};

const STEPPING: Graph = {
  '1': { class_type: 'TestSteps', inputs: { steps: 6, seconds_per_step: 0, salt: 1 } },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'out' } },
};

const failing = (message: string): Graph => ({
  '1': { class_type: 'TestFail', inputs: { message, after_steps: 1, kind: 'SystemExit', salt: 1 } },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'out' } },
});

const SLEEPING: Graph = {
  '1': { class_type: 'TestSleep', inputs: { seconds: 0, salt: 1 } },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'out' } },
};

describe('an engine attached to a ComfyUI that fails', () => {
  let folder: TestFolder;
  let simulator: ComfyuiSimulator;
  let engine: ComfyuiEngine;

  /** A simulator, and an engine attached to it; both are taken down after the test. */
  async function open(
    bounds: Partial<ComfyuiBounds> = {},
    options: Partial<SimulatedServerOptions> = {},
    attach: (simulator: ComfyuiSimulator) => Partial<AttachOptions> = () => ({}),
  ): Promise<void> {
    simulator = await ComfyuiSimulator.start(options);
    const server = { mode: 'attach' as const, url: simulator.url, ...attach(simulator) };
    engine = new ComfyuiEngine({ server, bounds: { ...BOUNDS, ...bounds } });
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

  it('says once that nothing answers while it waits for that', async () => {
    simulator = await ComfyuiSimulator.start();
    await simulator.kill();
    const notices: string[] = [];
    const server = { mode: 'attach' as const, url: simulator.url };
    const onNotice = (notice: string): void => void notices.push(notice);
    engine = new ComfyuiEngine({ server, bounds: { ...BOUNDS, quietMs: 1 }, onNotice });
    const started = engine.start();
    await eventually('it is said', () => notices.length > 0);
    await simulator.revive();
    await started;
    expect(notices).toEqual([
      expect.stringMatching(`^ComfyUI at ${simulator.url} has not answered for 1 ms, and is waited for`),
      expect.stringContaining('--disable-metadata'),
    ]);
  });

  describe('loses its process', () => {
    it('loses the run when it stays away', async () => {
      await open({ unreachableMs: 200 });
      simulator.server.holds.hold({ classType: 'TestSteps', step: 2 });
      const run = startRun(engine, STEPPING);
      await run.seen('node_step', ({ step }) => step === 2);
      await simulator.kill();
      expect(await lossOf(run)).toContain('has not answered for');
      expect((await engine.health()).problem).toContain('does not answer');
    });

    it('loses the run when it comes back without it, runs the next, and has nobody restart what came back', async () => {
      const restartFile = join(folder.path, 'restart-of-next');
      await open({}, {}, () => ({ restartFile }));
      simulator.server.holds.hold({ classType: 'TestSteps', step: 2 });
      const run = startRun(engine, STEPPING);
      await run.seen('node_step', ({ step }) => step === 2);
      await simulator.kill();
      await simulator.revive();
      expect(await lossOf(run)).toContain('no longer knows the run');
      expect(await startRun(engine, STEPPING).result).toEqual({ status: 'succeeded' });
      expect(existsSync(restartFile)).toBe(false);
    });

    it('has nobody restart what comes back once the run was given up', async () => {
      const restartFile = join(folder.path, 'restart-of-late');
      await open({ unreachableMs: 200 }, {}, () => ({ restartFile }));
      simulator.server.holds.hold({ classType: 'TestSteps', step: 2 });
      const run = startRun(engine, STEPPING);
      await run.seen('node_step', ({ step }) => step === 2);
      await simulator.kill();
      expect(await lossOf(run)).toContain('has not answered for');
      expect(await startRun(engine, STEPPING).result).toMatchObject({ status: 'lost' });
      await expect(engine.reset()).rejects.toThrow('does not answer');
      await simulator.revive();
      expect(await startRun(engine, STEPPING).result).toEqual({ status: 'succeeded' });
      expect(existsSync(restartFile)).toBe(false);
    });

    describe('and answers again, with the run that was given up', () => {
      /** A run that was lost because the server did not answer, and goes on there. */
      async function openBehindGap(bounds: Partial<ComfyuiBounds>, restartFile?: string) {
        await open({ unreachableMs: 1, ...bounds }, {}, () => (restartFile === undefined ? {} : { restartFile }));
        const hold = simulator.server.holds.hold({ classType: 'TestSteps', step: 2 });
        const run = startRun(engine, STEPPING);
        await hold.reached;
        for (let at = 0; at < 20; at += 1) simulator.server.faults.next(`GET /history/${run.runId}`, 'reset_before');
        expect(await lossOf(run)).toContain('has not answered for');
        return { run, hold };
      }

      it.each([undefined, 'restart-of-heeding'])('interrupts it, and is well once it has left (%s)', async (name) => {
        const restartFile = name && join(folder.path, name);
        const { run, hold } = await openBehindGap({}, restartFile);
        await simulator.server.whenInterrupted(1);
        expect(await engine.health()).toMatchObject({ ready: false });
        expect(await startRun(engine, STEPPING).result).toMatchObject({ status: 'lost' });
        hold.release();
        await eventually('it is well', async () => (await engine.health()).ready);
        expect(await startRun(engine, STEPPING).result).toEqual({ status: 'succeeded' });
        expect(new Set(simulator.server.interrupts)).toEqual(new Set([run.runId]));
        await eventually('it is forgotten', () => !simulator.server.queue.history.has(run.runId));
        expect(restartFile !== undefined && existsSync(restartFile)).toBe(false);
      });

      it('has it restarted where the run ignores the interrupt', async () => {
        const restartFile = join(folder.path, 'restart-of-ignoring');
        await openBehindGap({ interruptGraceMs: 100 }, restartFile);
        await eventually('its restart is requested', () => existsSync(restartFile));
        expect(simulator.server.interrupts).not.toEqual([]);
      });
    });

    it('has it restarted when it goes on taking requests and answers none', async () => {
      const restartFile = join(folder.path, 'restart-of-silent');
      await open({ unreachableMs: 200, requestMs: 2_000 }, {}, () => ({ restartFile }));
      const hold = simulator.server.holds.hold({ classType: 'TestSteps', step: 2 });
      const run = startRun(engine, STEPPING);
      await hold.reached;
      const thaw = simulator.server.faults.freeze();
      expect(await lossOf(run)).toContain('has not answered for');
      await eventually('its restart is requested', () => existsSync(restartFile));
      thaw();
    });

    it('reads the catalogue again: another ComfyUI may have come back', async () => {
      const extra: NodeClass = { outputs: ['IMAGE'], run: () => ({ values: [] }) };
      const classes: Record<string, NodeClass> = {};
      await open({}, { classes });
      const before = await engine.catalogue();
      await simulator.kill();
      classes['Extra'] = extra;
      await simulator.revive();
      // Once it has noticed that its socket is gone.
      const after = await eventually('the new class to be read', async () => {
        const read = await engine.catalogue();
        return 'Extra' in read ? read : null;
      });
      expect(catalogueDigest(after)).not.toBe(catalogueDigest(before));
    });
  });

  describe('loses the thread that runs prompts', () => {
    it('loses the run by its silence, though every route still answers', async () => {
      await open({ silenceMs: 150 });
      const run = startRun(engine, failing(''));
      expect(await lossOf(run)).toContain('said nothing about the run');
      expect(simulator.server.queue.running?.promptId).toBe(run.runId);
    });

    it('loses the run as soon as the log says so', async () => {
      await open({ silenceMs: NEVER_MS, deadThreadMs: 50 });
      const run = startRun(engine, failing('KeyError'));
      expect(await lossOf(run)).toContain('thread of ComfyUI');
    });

    it('is not well, and takes no run, until it was restarted', async () => {
      await open({ silenceMs: NEVER_MS, deadThreadMs: 50 });
      await startRun(engine, failing('KeyError')).result;
      expect((await engine.health()).problem).toContain('that was given up');
      expect(await startRun(engine, STEPPING).result).toMatchObject({ status: 'lost' });
      await expect(engine.reset()).rejects.toThrow("can't restart a ComfyUI that it did not start");
      await simulator.kill();
      await simulator.revive();
      expect(await startRun(engine, STEPPING).result).toEqual({ status: 'succeeded' });
      expect(await engine.health()).toMatchObject({ ready: true, problem: null });
    });

    it('has it restarted by who runs it, and takes no run until that was done', async () => {
      const restartFile = join(folder.path, 'restart');
      await open({ silenceMs: NEVER_MS, deadThreadMs: 50, interruptGraceMs: 100 }, {}, () => ({ restartFile }));
      await startRun(engine, failing('KeyError')).result;
      await eventually('its restart is requested', () => existsSync(restartFile));
      // What hung may go on just before it is killed: a run that it took now would be lost with it.
      await simulator.kill();
      await simulator.revive();
      expect(await startRun(engine, STEPPING).result).toMatchObject({ status: 'lost' });
      expect((await engine.health()).problem).toContain('its restart was requested');
      rmSync(restartFile);
      expect(await startRun(engine, STEPPING).result).toEqual({ status: 'succeeded' });
      expect(await engine.health()).toMatchObject({ ready: true, problem: null });
    });

    it('loses a run that waits although nothing runs', async () => {
      await open({ stuckMs: 100 });
      const release = simulator.server.queue.hold();
      const run = startRun(engine, STEPPING);
      expect(await lossOf(run)).toContain('although nothing else runs');
      expect(run.events).toEqual([]);
      // Taken out of the queue it would make way for the next run, to be lost in the same way.
      expect((await engine.health()).problem).toContain('only a restart');
      expect(await startRun(engine, STEPPING).result).toMatchObject({ status: 'lost' });
      expect(simulator.server.queue.pending).toHaveLength(1);
      release();
      await simulator.server.whenIdle();
      expect(await startRun(engine, STEPPING).result).toEqual({ status: 'succeeded' });
    });
  });

  describe('loses its GPU', () => {
    const breaking: Graph = {
      '1': {
        class_type: 'TestFail',
        inputs: { message: 'CUDA error: misaligned address', after_steps: 1, kind: 'AcceleratorError', salt: 1 },
      },
      '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'out' } },
    };

    it('loses the run, and takes no other until the process was started again', async () => {
      await open();
      const run = startRun(engine, breaking);
      expect(await lossOf(run)).toBe('The GPU broke down in node 1: CUDA error: misaligned address.');
      expect((await engine.health()).problem).toBe(`The GPU takes no more work from ComfyUI since run ${run.runId}.`);
      expect(await startRun(engine, STEPPING).result).toMatchObject({ status: 'lost' });
      await simulator.kill();
      await simulator.revive();
      expect(await startRun(engine, STEPPING).result).toEqual({ status: 'succeeded' });
      expect(await engine.health()).toMatchObject({ ready: true, problem: null });
    });

    it('has it restarted by who runs it', async () => {
      const restartFile = join(folder.path, 'restart-of-gpu');
      await open({}, {}, () => ({ restartFile }));
      await startRun(engine, breaking).result;
      expect(existsSync(restartFile)).toBe(true);
      expect((await engine.health()).problem).toBe('ComfyUI lost its GPU, and its restart was requested.');
      rmSync(restartFile);
    });
  });

  describe('is asked to stop', () => {
    it('repeats an interrupt that was lost, and names the run in each', async () => {
      await open();
      simulator.server.loseInterrupts(2);
      const hold = simulator.server.holds.hold({ classType: 'TestSteps', step: 2 });
      const run = startRun(engine, STEPPING);
      await hold.reached;
      run.abort();
      await simulator.server.whenInterrupted(4);
      hold.release();
      expect(await run.result).toEqual({ status: 'interrupted' });
      expect(new Set(simulator.server.interrupts)).toEqual(new Set([run.runId]));
    });

    it('takes a run that waits out of the queue', async () => {
      await open();
      const release = simulator.server.queue.hold();
      const run = startRun(engine, STEPPING);
      await simulator.server.whenPosted();
      run.abort();
      expect(await run.result).toEqual({ status: 'interrupted' });
      expect(simulator.server.queue.pending).toEqual([]);
      expect(run.events).toEqual([]);
      release();
    });

    it("uses later versions' cancel where it is there", async () => {
      await open({}, { version: '0.33.0' });
      const hold = simulator.server.holds.hold({ classType: 'TestSteps', step: 2 });
      const run = startRun(engine, STEPPING);
      await hold.reached;
      run.abort();
      await simulator.server.whenInterrupted(1);
      hold.release();
      expect(await run.result).toEqual({ status: 'interrupted' });
      expect(simulator.server.jobCancels).toContain(run.runId);
      expect(simulator.server.interrupts).toEqual([]);
    });

    it('gives a run up that ignores it, and is well again once the run has ended, of which nothing is left then', async () => {
      await open({ interruptGraceMs: 300 }, {}, ({ folders }) => ({ folders }));
      const hold = simulator.server.holds.hold({ classType: 'TestSleep', step: 1 });
      const run = startRun(engine, SLEEPING);
      await hold.reached;
      run.abort();
      expect(await lossOf(run)).toContain('ignored the interrupt');
      expect(await engine.health()).toMatchObject({ ready: false });
      const eventCount = run.events.length;
      const written = join(simulator.folders.output, 'millrace', run.runId);
      mkdirSync(written, { recursive: true });
      hold.release();
      await simulator.server.whenIdle();
      expect(await engine.health()).toMatchObject({ ready: true });
      expect(run.events).toHaveLength(eventCount);
      await eventually('it is forgotten', () => !simulator.server.queue.history.has(run.runId));
      expect(existsSync(written)).toBe(false);
    });

    it('calls a run stopped that ended by itself meanwhile', async () => {
      await open();
      const hold = simulator.server.holds.hold({ classType: 'SaveImage', step: 0 });
      const run = startRun(engine, STEPPING);
      await hold.reached;
      simulator.server.loseInterrupts(1_000);
      run.abort();
      hold.release();
      expect(await run.result).toEqual({ status: 'interrupted' });
    });

    it('is lost when somebody else stopped it', async () => {
      await open();
      const hold = simulator.server.holds.hold({ classType: 'TestSteps', step: 2 });
      const run = startRun(engine, STEPPING);
      await hold.reached;
      simulator.server.raiseInterrupt();
      hold.release();
      expect(await lossOf(run)).toContain('not by Millrace');
    });
  });

  describe('loses answers', () => {
    it('does not post again what arrived', async () => {
      await open();
      simulator.server.faults.next('POST /prompt', 'reset_after');
      const run = startRun(engine, STEPPING);
      expect(await run.result).toEqual({ status: 'succeeded' });
      expect(simulator.server.posted.map(({ promptId }) => promptId)).toEqual([run.runId]);
    });

    it('posts again what did not arrive', async () => {
      await open();
      simulator.server.faults.next('POST /prompt', 'reset_before');
      const run = startRun(engine, STEPPING);
      expect(await run.result).toEqual({ status: 'succeeded' });
      expect(simulator.server.posted.map(({ promptId }) => promptId)).toEqual([run.runId]);
    });

    it('has nobody restart a server that has not got the run', async () => {
      const restartFile = join(folder.path, 'restart-of-lost-post');
      await open({}, {}, () => ({ restartFile }));
      for (let post = 0; post < 3; post += 1) simulator.server.faults.next('POST /prompt', 'reset_before');
      expect(await startRun(engine, STEPPING).result).toMatchObject({ status: 'lost' });
      expect(await startRun(engine, STEPPING).result).toEqual({ status: 'succeeded' });
      expect(existsSync(restartFile)).toBe(false);
    });

    it('fails a run that the server can not take, and loses one that a gateway kept from it', async () => {
      await open();
      simulator.server.faults.next('POST /prompt', { status: 500 });
      expect(await startRun(engine, STEPPING).result).toMatchObject({
        status: 'failed',
        failure: { code: 'engine_error' },
      });
      simulator.server.faults.next('POST /prompt', { status: 503 });
      expect(await startRun(engine, STEPPING).result).toMatchObject({ status: 'lost' });
    });

    it('waits while a node keeps every answer up', async () => {
      await open();
      const hold = simulator.server.holds.hold({ classType: 'TestSteps', step: 2 });
      const run = startRun(engine, STEPPING);
      await hold.reached;
      const thaw = simulator.server.faults.freeze();
      hold.release();
      await run.seen('node_finished', ({ nodeId }) => nodeId === '2');
      thaw();
      expect(await run.result).toEqual({ status: 'succeeded' });
    });

    it('loses a run whose file is gone, and has the cache dropped that still names it', async () => {
      const classes: Record<string, NodeClass> = {
        Vanishing: {
          required: { filename_prefix: '["STRING", {"default": "x"}]' },
          outputNode: true,
          run: ({ inputs }) => {
            const [, runId = '', folder = ''] = String(inputs['filename_prefix']).split('/');
            return {
              ui: { images: [{ filename: 'gone.png', subfolder: `millrace/${runId}/${folder}`, type: 'output' }] },
            };
          },
        },
      };
      await open({}, { classes });
      const run = startRun(engine, { '1': { class_type: 'Vanishing', inputs: { filename_prefix: 'x' } } });
      expect(await run.result).toMatchObject({ status: 'lost', reason: 'Node 1 reported a file that is not there.' });
      expect(simulator.server.memoryFreed).toBe(1);
    });
  });
});
