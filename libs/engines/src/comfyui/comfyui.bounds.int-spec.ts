import { startRun, outputsOf, type Graph, type RunUnderTest } from '../../conformance/run-workflow';
import { ComfyuiSimulator, NodeRaised, type NodeClass } from '@millrace/testing';
import type { ComfyuiBounds } from './comfyui.config';
import { ComfyuiEngine } from './comfyui.engine';

const MIB = 1024 * 1024;
const NEVER_MS = 3_600_000;

/** A node that reports so many MiB of text. */
const Saying: NodeClass = {
  required: { mib: '["INT", {"default": 1}]', salt: '["INT", {"default": 0}]' },
  outputNode: true,
  run: ({ inputs }) => ({ ui: { text: ['x'.repeat(Number(inputs['mib']) * MIB)] } }),
};

/** A node that prints so many MiB before it reports a word. */
const Printing: NodeClass = {
  required: { mib: '["INT", {"default": 1}]' },
  outputNode: true,
  run: ({ inputs, log }) => {
    log(`${'x'.repeat(Number(inputs['mib']) * MIB)}\n`);
    return { ui: { text: ['done'] } };
  },
};

/** A node that raises an error of so many MiB. */
const Raising: NodeClass = {
  required: { mib: '["INT", {"default": 1}]' },
  outputNode: true,
  run: ({ inputs }) => {
    throw new NodeRaised('ValueError', `no such thing: ${'x '.repeat((Number(inputs['mib']) * MIB) / 2)}`);
  },
};

const saying = (mib: number, salt = 0): Graph[string] => ({ class_type: 'Saying', inputs: { mib, salt } });
const PICTURES: Graph = {
  '1': { class_type: 'EmptyImage', inputs: { width: 8, height: 8, batch_size: 1, color: 1 } },
  '2': { class_type: 'SaveImageWebsocket', inputs: { images: ['1', 0] } },
};

describe('a run that says more than a worker takes', () => {
  let simulator: ComfyuiSimulator;
  let engine: ComfyuiEngine;

  beforeEach(async () => {
    simulator = await ComfyuiSimulator.start({ classes: { Saying, Printing, Raising } });
    engine = await attached({});
  });
  afterEach(async () => {
    await engine.close();
    await simulator.stop();
  });

  async function attached(bounds: Partial<ComfyuiBounds>): Promise<ComfyuiEngine> {
    const usual = { pollMs: 20, cancelEveryMs: 20, interruptGraceMs: NEVER_MS, unreachableMs: NEVER_MS };
    const server = { mode: 'attach' as const, url: simulator.url };
    const opened = new ComfyuiEngine({ server, bounds: { ...usual, ...bounds } });
    await opened.start();
    return opened;
  }

  /** The engine goes on, and nothing of the run is left on the server. */
  async function expectWell(): Promise<void> {
    await simulator.server.whenIdle();
    expect(await engine.health()).toMatchObject({ ready: true, problem: null });
    expect(await startRun(engine, { '1': saying(1) }).result).toEqual({ status: 'succeeded' });
  }

  it('in one message fails, and its node is named', async () => {
    const hold = simulator.server.holds.hold({ classType: 'TestSteps', step: 1 });
    const run = startRun(engine, {
      '1': saying(17),
      '2': { class_type: 'TestSteps', inputs: { steps: 2, seconds_per_step: 0, salt: 1 } },
      '3': { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: 'x' } },
    });
    await simulator.server.whenInterrupted(1);
    hold.release();
    expect(await run.result).toMatchObject({
      status: 'failed',
      failure: {
        code: 'node_execution_error',
        nodeId: '1',
        classType: 'Saying',
        message: expect.stringContaining('16 MiB of text') as string,
      },
    });
    await expectWell();
  });

  it('in messages that are small enough fails as well, and hands over what came before', async () => {
    const run = startRun(engine, { '1': saying(6, 1), '2': saying(6, 2), '3': saying(6, 3) });
    expect(await run.result).toMatchObject({ status: 'failed', failure: { code: 'engine_error', nodeId: null } });
    expect(outputsOf(run)).toHaveLength(2);
    await expectWell();
  });

  it('while its socket is silent fails by its history', async () => {
    simulator.server.sockets.setDeaf(true);
    const run = startRun(engine, { '1': saying(17) });
    expect(await run.result).toMatchObject({ status: 'failed', failure: { code: 'engine_error', nodeId: null } });
    simulator.server.sockets.setDeaf(false);
    await expectWell();
  });

  it('as a picture over the socket fails, and is not tried again', async () => {
    const { sockets } = simulator.server;
    const send = sockets.sendPicture.bind(sockets);
    jest.spyOn(sockets, 'sendPicture').mockImplementationOnce((format, _bytes, ...rest) => {
      send(format, Buffer.alloc(65 * MIB), ...rest);
    });
    expect(await startRun(engine, PICTURES).result).toMatchObject({
      status: 'failed',
      failure: { code: 'node_execution_error', nodeId: '2', classType: 'SaveImageWebsocket' },
    });
    await expectWell();
  });

  /** A run that prints so many MiB, and stands still until it is released. */
  function printing(mib: number): { run: RunUnderTest; release: () => void } {
    const hold = simulator.server.holds.hold({ classType: 'TestSteps', step: 1 });
    const run = startRun(engine, {
      '1': { class_type: 'Printing', inputs: { mib } },
      '2': { class_type: 'TestSteps', inputs: { steps: 2, seconds_per_step: 0, salt: 1 } },
      '3': { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: 'x' } },
    });
    return { run, release: () => hold.release() };
  }

  it('in what it prints goes on, and its log says what is left out', async () => {
    const { run, release } = printing(17);
    const isNamed = run.seen('log', ({ text }) =>
      text.includes('[17 MiB of output, which is more than is taken, left'),
    );
    await Promise.race([isNamed, simulator.server.whenInterrupted(1)]);
    release();
    expect(await run.result).toEqual({ status: 'succeeded' });
    expect(outputsOf(run)).toHaveLength(2);
    await expectWell();
  });

  it('in what it prints, so that its socket breaks, goes on too', async () => {
    const reopened = simulator.server.sockets.whenRegistered();
    const { run, release } = printing(65);
    await reopened;
    release();
    expect(await run.result).toEqual({ status: 'succeeded' });
    expect(outputsOf(run)).toHaveLength(2);
    await expectWell();
  });

  it('in its error fails by that error', async () => {
    await engine.close();
    engine = await attached({ pollMs: NEVER_MS });
    const run = startRun(engine, { '1': { class_type: 'Raising', inputs: { mib: 17 } } });
    expect(await run.result).toMatchObject({
      status: 'failed',
      failure: {
        code: 'node_execution_error',
        nodeId: '1',
        classType: 'Raising',
        message: expect.stringMatching(/^no such thing: x x/) as string,
      },
    });
    await expectWell();
  });
});
