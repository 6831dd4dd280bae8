import { lossOf, outputsOf, startRun, type Graph } from '../../conformance/run-workflow';
import { ComfyuiSimulator } from '@millrace/testing';
import type { ComfyuiBounds } from './comfyui.config';
import { ComfyuiEngine } from './comfyui.engine';

const NEVER_MS = 3_600_000;

/** A test that waits for an engine to give up sets that bound: on a busy machine no other may be met. */
const BOUNDS: Partial<ComfyuiBounds> = { pollMs: 20, unreachableMs: NEVER_MS, reconnectPauseMs: 10, logDrainMs: 250 };

const STEPPING: Graph = {
  '1': { class_type: 'TestSteps', inputs: { steps: 6, seconds_per_step: 0, salt: 1 } },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'out' } },
};

const sendingPictures = (count: number): Graph => ({
  '1': { class_type: 'EmptyImage', inputs: { width: 8, height: 8, batch_size: count, color: 1 } },
  '2': { class_type: 'SaveImageWebsocket', inputs: { images: ['1', 0] } },
});

describe('an engine attached to a ComfyUI loses its socket, and', () => {
  let simulator: ComfyuiSimulator;
  let engine: ComfyuiEngine;

  async function open(bounds: Partial<ComfyuiBounds> = {}): Promise<void> {
    simulator = await ComfyuiSimulator.start();
    engine = new ComfyuiEngine({
      server: { mode: 'attach', url: simulator.url },
      bounds: { ...BOUNDS, ...bounds },
    });
    await engine.start();
  }

  afterEach(async () => {
    await engine.close();
    await simulator.stop();
  });

  it('opens the next, and receives the rest', async () => {
    await open();
    const hold = simulator.server.holds.hold({ classType: 'TestSteps', step: 2 });
    const run = startRun(engine, STEPPING);
    await run.seen('node_step', ({ step }) => step === 2);
    simulator.server.sockets.cut();
    await simulator.server.sockets.whenRegistered();
    hold.release();
    expect(await run.result).toEqual({ status: 'succeeded' });
    const steps = run.events.flatMap((event) => (event.type === 'node_step' ? [event.step] : []));
    expect(steps).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('finds in history what was said meanwhile', async () => {
    await open({ reconnectPauseMs: NEVER_MS });
    const hold = simulator.server.holds.hold({ classType: 'TestSteps', step: 2 });
    const run = startRun(engine, STEPPING);
    await run.seen('node_step', ({ step }) => step === 2);
    simulator.server.sockets.cut();
    hold.release();
    expect(await run.result).toEqual({ status: 'succeeded' });
    expect(outputsOf(run)).toHaveLength(1);
    expect(run.events).toContainEqual({ type: 'node_finished', nodeId: '1' });
  });

  it('opens it again when it is open and mute', async () => {
    await open({ muteMs: 1_000 });
    const hold = simulator.server.holds.hold({ classType: 'TestSteps', step: 2 });
    const run = startRun(engine, STEPPING);
    await run.seen('node_step', ({ step }) => step === 2);
    simulator.server.sockets.forget();
    await simulator.server.sockets.whenRegistered();
    hold.release();
    expect(await run.result).toEqual({ status: 'succeeded' });
    expect(run.events).toContainEqual({ type: 'node_step', nodeId: '1', step: 6, steps: 6 });
  });

  it('ends a run whose socket says nothing at all', async () => {
    await open();
    simulator.server.sockets.setDeaf(true);
    const run = startRun(engine, STEPPING);
    expect(await run.result).toEqual({ status: 'succeeded' });
    expect(run.events[0]).toEqual({ type: 'started' });
    expect(outputsOf(run)).toHaveLength(1);
  });

  it('loses a run whose pictures came over it', async () => {
    await open();
    const hold = simulator.server.holds.hold({ classType: 'SaveImageWebsocket', step: 1 });
    const run = startRun(engine, sendingPictures(4));
    await hold.reached;
    simulator.server.sockets.cut();
    await simulator.server.sockets.whenRegistered();
    hold.release();
    expect(await lossOf(run)).toContain('while pictures came');
  });

  it('keeps a silent socket over which pictures are to come: a model takes its time to load', async () => {
    await open({ muteMs: 20 });
    const hold = simulator.server.holds.hold({ classType: 'TestSteps', step: 1 });
    const run = startRun(engine, {
      '1': { class_type: 'TestSteps', inputs: { steps: 1, seconds_per_step: 0, salt: 1 } },
      '2': { class_type: 'SaveImageWebsocket', inputs: { images: ['1', 0] } },
    });
    await hold.reached;
    const { requests } = simulator.server;
    await simulator.server.whenAsked(requests + 20);
    hold.release();
    expect(await run.result).toEqual({ status: 'succeeded' });
    expect(outputsOf(run)).toHaveLength(1);
  });

  it('loses a run whose pictures were to come over a socket that said nothing', async () => {
    await open({ picturesMs: 100 });
    simulator.server.sockets.setDeaf(true);
    const run = startRun(engine, sendingPictures(1));
    expect(await lossOf(run)).toContain('was silent when pictures were to come');
  });

  describe('where a part of the graph is blocked', () => {
    const blocked = (message: string): Graph => ({
      ...STEPPING,
      '3': { class_type: 'TestBlock', inputs: { message, salt: 1 } },
      '4': { class_type: 'SaveImage', inputs: { images: ['3', 0], filename_prefix: 'out' } },
    });
    /** What ComfyUI caches is blocked: the saver alone runs again. */
    const BLOCKED_BEFORE: Graph = {
      '3': { class_type: 'TestBlock', inputs: { message: 'not allowed', salt: 1 } },
      '5': { class_type: 'ImageBatch', inputs: { image1: ['3', 0], image2: ['3', 0] } },
      '4': { class_type: 'SaveImage', inputs: { images: ['5', 0], filename_prefix: 'out' } },
    };
    const REFUSED = { status: 'failed', failure: { nodeId: '5', message: 'Execution Blocked: not allowed' } };

    it('loses the run when that may have been said while the socket was away', async () => {
      await open({ reconnectPauseMs: NEVER_MS });
      const hold = simulator.server.holds.hold({ nodeId: '4', step: 0 });
      const run = startRun(engine, blocked('not allowed'));
      await run.seen('node_started', ({ nodeId }) => nodeId === '4');
      simulator.server.sockets.cut();
      hold.release();
      expect(await lossOf(run)).toContain('Node 4 put out nothing');
    });

    it('fails the next attempt of a run that was lost by that', async () => {
      await open({ reconnectPauseMs: NEVER_MS });
      const hold = simulator.server.holds.hold({ nodeId: '5', step: 0 });
      const run = startRun(engine, BLOCKED_BEFORE, { cacheScope: 'one' });
      await run.seen('node_started', ({ nodeId }) => nodeId === '5');
      simulator.server.sockets.cut();
      hold.release();
      expect(await lossOf(run)).toContain('Node 4 put out nothing');
      expect(await startRun(engine, BLOCKED_BEFORE, { cacheScope: 'one' }).result).toMatchObject(REFUSED);
    });

    it('fails each run of the same graph', async () => {
      await open();
      expect(await startRun(engine, BLOCKED_BEFORE, { cacheScope: 'one' }).result).toMatchObject(REFUSED);
      expect(await startRun(engine, BLOCKED_BEFORE, { cacheScope: 'one' }).result).toMatchObject(REFUSED);
    });

    it('fails a run after one that was stopped once a node was blocked', async () => {
      await open();
      const hold = simulator.server.holds.hold({ nodeId: '4', step: 0 });
      const run = startRun(engine, BLOCKED_BEFORE, { cacheScope: 'one' });
      await run.seen('node_started', ({ nodeId }) => nodeId === '4');
      run.abort();
      hold.release();
      expect(await run.result).toEqual({ status: 'interrupted' });
      expect(await startRun(engine, BLOCKED_BEFORE, { cacheScope: 'one' }).result).toMatchObject(REFUSED);
    });

    it('loses the run when the socket says nothing at all', async () => {
      await open();
      simulator.server.sockets.setDeaf(true);
      expect(await lossOf(startRun(engine, blocked('not allowed')))).toContain('Node 4 put out nothing');
    });

    it('lets one that was switched off pass when the socket was only opened again for a node that is silent', async () => {
      await open({ muteMs: 1_000 });
      const hold = simulator.server.holds.hold({ classType: 'TestSteps', step: 2 });
      const run = startRun(engine, blocked(''));
      await hold.reached;
      await simulator.server.sockets.whenRegistered();
      hold.release();
      expect(await run.result).toEqual({ status: 'succeeded' });
    });
  });

  describe('where pictures wait to be sent when history has the run already', () => {
    /** A run that has ended, of which the socket has brought that its node began. */
    async function openBehindPictures(bounds: Partial<ComfyuiBounds> = {}) {
      await open({ picturesMs: NEVER_MS, ...bounds });
      const hold = simulator.server.holds.hold({ classType: 'SaveImageWebsocket', step: 0 });
      const run = startRun(engine, sendingPictures(4));
      await run.seen('node_started', ({ nodeId }) => nodeId === '2');
      const resume = simulator.server.sockets.stall();
      hold.release();
      await simulator.server.whenIdle();
      return { run, resume };
    }

    it('waits for them', async () => {
      const { run, resume } = await openBehindPictures();
      const { requests } = simulator.server;
      await simulator.server.whenAsked(requests + 20);
      resume();
      expect(await run.result).toEqual({ status: 'succeeded' });
      expect(outputsOf(run)).toHaveLength(4);
    });

    it('loses the run when the socket breaks meanwhile', async () => {
      const { run } = await openBehindPictures();
      simulator.server.sockets.cut();
      expect(await lossOf(run)).toContain('while pictures came');
    });

    it('loses the run when the socket says nothing more', async () => {
      const { run } = await openBehindPictures({ picturesMs: 100 });
      expect(await lossOf(run)).toContain('was silent when pictures were to come');
    });

    it('stops the run when it is asked to', async () => {
      const { run } = await openBehindPictures();
      run.abort();
      expect(await run.result).toEqual({ status: 'interrupted' });
    });
  });

  it('never has two sockets of one client id', async () => {
    await open();
    for (let round = 0; round < 3; round += 1) {
      simulator.server.sockets.cut();
      await simulator.server.sockets.whenRegistered();
      expect(simulator.server.sockets.count).toBe(1);
    }
    expect(await startRun(engine, STEPPING).result).toEqual({ status: 'succeeded' });
  });
});
