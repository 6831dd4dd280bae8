import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BlobStoreError } from '@millrace/assets';
import {
  ComfyuiEngine,
  type Engine,
  type EngineResult,
  type EngineRunContext,
  type EngineWork,
} from '@millrace/engines';
import { createLogger } from '@millrace/platform';
import { ComfyuiSimulator, eventually, followersOf } from '@millrace/testing';
import { EngineSlot } from '../engines/engine-slot';
import { WorkFolder } from '../work-files';
import { Attempt } from './attempt';
import { claimedAttempt } from './fixtures/claimed-attempt';
import { ASSET_ID, MAX_OUTPUTS, Surroundings } from './fixtures/surroundings';
import { OutOfReach } from './out-of-reach';

/** Every text that is read as JSON without loss, by any part of the worker. */
const parsed: string[] = [];
jest.mock('@millrace/workflow', () => {
  const actual = jest.requireActual<typeof import('@millrace/workflow')>('@millrace/workflow');
  const parseJson: typeof actual.parseJson = (text, limits) => {
    parsed.push(text);
    return actual.parseJson(text, limits);
  };
  const parseWorkflow: typeof actual.parseWorkflow = (text, limits) => {
    parsed.push(text);
    return actual.parseWorkflow(text, limits);
  };
  return { ...actual, parseJson, parseWorkflow };
});

/** The number is one that no double holds. */
const WORKFLOW = `{"1":{"class_type":"LoadImage","inputs":{"image":{"__type":"core/ASSET","info":{"id":"${ASSET_ID}"}}}},
  "2":{"class_type":"SaveImage","inputs":{"images":["1",0],"filename_prefix":"only once"}},
  "3":{"class_type":"PrimitiveInt","inputs":{"value":9223372036854775807}},
  "4":{"class_type":"PreviewAny","inputs":{"source":["3",0]}}}`;

const logger = createLogger('test', 'fatal');

let folder: string;
let simulator: ComfyuiSimulator;
let engine: ComfyuiEngine;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-attempt-test-'));
  simulator = await ComfyuiSimulator.start();
  engine = new ComfyuiEngine({ server: { mode: 'attach', url: simulator.url } });
  await engine.start();
});
afterAll(async () => {
  await engine.close();
  await simulator.stop();
  await rm(folder, { recursive: true });
});

const staying = new AbortController().signal;

describe('an attempt', () => {
  it('parses its graph once, from the staging of its inputs to the engine', async () => {
    const around = new Surroundings();
    const claimed = claimedAttempt({ jobId: randomUUID(), workflow: WORKFLOW });
    const parts = around.parts(folder, await engine.catalogue());
    parsed.length = 0;
    await new Attempt(parts, claimed, new EngineSlot(engine, logger), staying).run();

    expect(around.ends).toMatchObject([{ ending: 'succeeded', failure: null }]);
    expect(parsed.filter((text) => text.includes('only once'))).toEqual([WORKFLOW]);
    const posted = simulator.server.posted.at(-1)?.text ?? '';
    expect(posted).toContain('9223372036854775807');
    expect(posted).not.toContain('core/ASSET');
  });

  it.each([
    ['has its hold extended before the run where that does not last until the first heartbeat', true, [0]],
    ['sends no heartbeat before the run where its hold lasts', false, []],
  ])('%s', async (_, isHoldShort, beats) => {
    const around = new Surroundings();
    const claimed = claimedAttempt({ jobId: randomUUID(), workflow: WORKFLOW, isHoldShort });
    const slot = new EngineSlot(engine, logger);
    const beforeRun: number[] = [];
    const run = slot.run.bind(slot);
    jest.spyOn(slot, 'run').mockImplementation((...work) => {
      beforeRun.push(...around.engineMs);
      return run(...work);
    });
    await new Attempt(around.parts(folder, await engine.catalogue()), claimed, slot, staying).run();
    expect(around.ends).toMatchObject([{ ending: 'succeeded' }]);
    expect(beforeRun).toEqual(beats);
  });

  it.each([
    ['is handed back, which costs its job nothing,', 1, { handedBack: 1, losses: [] }],
    ['is given up after ten attempts', 11, { handedBack: 0, losses: [{ by: 'worker' }] }],
  ])('%s where the run before has lost the engine', async (_, number, expected) => {
    const around = new Surroundings();
    const lost = { kind: 'cpu', run: () => Promise.resolve({ status: 'lost', reason: 'gone' }) } as unknown as Engine;
    const slot = new EngineSlot(lost, logger);
    const leave = await slot.enter(staying);
    const claimed = claimedAttempt({ jobId: randomUUID(), attempt: number });
    const over = new Attempt(around.parts(folder, {}), claimed, slot, staying).run();
    await slot.run({ runId: 'r' } as EngineWork, { signal: staying, onEvent: () => undefined });
    leave();
    await over;
    expect(around).toMatchObject(expected);
  });

  it.each([
    ['is handed back, which costs its job nothing,', 1, { handedBack: 1, losses: [], ends: [] }],
    ['is given up after ten attempts', 11, { handedBack: 0, losses: [{ by: 'worker' }], ends: [] }],
  ])('%s where its worker does not reach its inputs', async (_, number, expected) => {
    const around = new Surroundings();
    const parts = around.parts(folder, await engine.catalogue());
    const content = {
      openInput: () => Promise.reject(new OutOfReach('cut off')),
      doubtInput: () => Promise.resolve(false),
    };
    const claimed = claimedAttempt({ jobId: randomUUID(), attempt: number, workflow: WORKFLOW });
    const slot = new EngineSlot(engine, logger);
    await new Attempt({ ...parts, assets: { ...parts.assets, content } }, claimed, slot, staying).run();
    expect(around).toMatchObject(expected);
  });

  it.each([
    ['is handed back by a worker that drains', true, { handedBack: 1, losses: [], ends: [] }],
    ['ends with its job that is canceled', false, { losses: [], ends: [{ ending: 'canceled_while_running' }] }],
  ])('%s while the attempt before has the engine, which gets nothing of it', async (_, drains, expected) => {
    const around = new Surroundings();
    const run = jest.fn(() => Promise.resolve({ status: 'lost', reason: 'It has another run.' }));
    const slot = new EngineSlot({ kind: 'cpu', run } as unknown as Engine, logger);
    const leave = await slot.enter(staying);
    const enter = jest.spyOn(slot, 'enter');
    const draining = new AbortController();
    const claimed = claimedAttempt({ jobId: randomUUID() });
    const attempt = new Attempt(around.parts(folder, {}), claimed, slot, draining.signal);
    const over = attempt.run();
    await eventually('it to wait for the engine', () => enter.mock.calls.length > 0);
    if (drains) draining.abort();
    else around.status = 'canceling';
    await attempt.checkForCancel();
    await over;
    leave();
    expect(run).not.toHaveBeenCalled();
    expect(around).toMatchObject(expected);
  });

  it('is handed back by a worker that drains, where the engine does not stop the run in time', async () => {
    const around = new Surroundings();
    const running = new AbortController();
    const ignores: Engine['run'] = async (_work, { signal }) => {
      running.abort();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return { status: 'lost', reason: 'ComfyUI ignored the interrupt for 18000 ms.' };
    };
    const slot = new EngineSlot({ kind: 'comfyui', run: ignores } as unknown as Engine, logger);
    const draining = new AbortController();
    const claimed = claimedAttempt({ jobId: randomUUID() });
    const over = new Attempt(around.parts(folder, {}), claimed, slot, draining.signal).run();
    await eventually('it to run', () => running.signal.aborted);
    draining.abort();
    await over;
    expect(around).toMatchObject({ handedBack: 1, losses: [], ends: [] });
  });

  it('leaves nothing on the signal that the worker must go, which lives longer and ends those that come then', async () => {
    const leaving = new AbortController();
    const slot = new EngineSlot(engine, logger);
    const catalogue = await engine.catalogue();
    const outcomeOf = async (): Promise<Surroundings> => {
      const around = new Surroundings();
      const claimed = claimedAttempt({ jobId: randomUUID(), workflow: WORKFLOW });
      await new Attempt(around.parts(folder, catalogue), claimed, slot, leaving.signal).run();
      return around;
    };
    for (let run = 0; run < 3; run += 1) expect((await outcomeOf()).ends).toMatchObject([{ ending: 'succeeded' }]);
    expect(followersOf(leaving.signal)).toBe(0);
    leaving.abort();
    expect(await outcomeOf()).toMatchObject({ handedBack: 1, ends: [] });
    expect(followersOf(leaving.signal)).toBe(0);
  });

  it.each([
    ['succeeded with files that were stored', { status: 'succeeded' }, ['file']],
    ['succeeded with bytes alone', { status: 'succeeded' }, ['bytes']],
    ['was lost with a file that it never reported', { status: 'lost', reason: 'The engine died.' }, []],
  ] as [string, EngineResult, ('file' | 'bytes')[]][])('whose run %s leaves no file', async (_, result, kinds) => {
    const around = new Surroundings();
    let outputDir = '';
    const run = async (work: EngineWork, context: EngineRunContext): Promise<EngineResult> => {
      ({ outputDir } = work);
      const path = join(outputDir, 'a.png');
      if (!kinds.includes('bytes')) await mkdir(outputDir).then(() => writeFile(path, 'made'));
      for (const kind of kinds) {
        const content = { kind, name: 'a.png', path, bytes: Buffer.from('made') };
        context.onEvent({ type: 'output', output: { nodeId: '1', index: 0, ...content } });
      }
      return result;
    };
    const slot = new EngineSlot({ kind: 'cpu', run } as unknown as Engine, logger);
    await new Attempt(around.parts(folder, {}), claimedAttempt({ jobId: randomUUID() }), slot, staying).run();
    expect(around.texts).toEqual(kinds.map(() => 'made'));
    await expect(stat(outputDir)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('gives its engine nothing where nothing is left to extend a hold that is short', async () => {
    const around = new Surroundings();
    const parts = around.parts(folder, await engine.catalogue());
    Object.assign(parts.jobs.lifecycle, {
      heartbeat: () => Promise.resolve({ status: 'running', exhausted: true, overtime: false }),
    });
    const claimed = claimedAttempt({ jobId: randomUUID(), workflow: WORKFLOW, isHoldShort: true });
    const posted = simulator.server.posted.length;
    await new Attempt(parts, claimed, new EngineSlot(engine, logger), staying).run();
    expect(around.ends).toMatchObject([{ ending: 'credits_exhausted', engineMs: 0 }]);
    expect(simulator.server.posted).toHaveLength(posted);
  });

  it('ends when its progress cannot be published, and stops its engine', async () => {
    const around = new Surroundings();
    around.progressed = () => {
      throw new Error('nobody takes it');
    };
    const run = (_work: EngineWork, context: EngineRunContext): Promise<EngineResult> => {
      const { signal } = context;
      context.onEvent({ type: 'started' });
      context.onEvent({ type: 'node_started', nodeId: '1' });
      return new Promise((resolve) => {
        const end = (): void => resolve({ status: 'interrupted' });
        if (signal.aborted) end();
        else signal.addEventListener('abort', end);
      });
    };
    const slot = new EngineSlot({ kind: 'cpu', run } as unknown as Engine, logger);
    await new Attempt(around.parts(folder, {}), claimedAttempt({ jobId: randomUUID() }), slot, staying).run();
    expect(around.losses).toMatchObject([{ by: 'worker', reason: 'its worker failed' }]);
    expect(around.ends).toEqual([]);
  });

  it('ends its job when it made an output too many and one before it could not be stored', async () => {
    const around = new Surroundings();
    around.store = () => Promise.reject(new BlobStoreError('full', 'no room is left'));
    const run = (_work: EngineWork, context: EngineRunContext): Promise<EngineResult> => {
      context.onEvent({ type: 'started' });
      for (let index = 0; index <= MAX_OUTPUTS; index += 1) {
        context.onEvent({ type: 'output', output: { nodeId: '1', index, kind: 'text', text: 'made' } });
      }
      return Promise.resolve({ status: context.signal.aborted ? 'interrupted' : 'succeeded' });
    };
    const slot = new EngineSlot({ kind: 'cpu', run } as unknown as Engine, logger);
    await new Attempt(around.parts(folder, {}), claimedAttempt({ jobId: randomUUID() }), slot, staying).run();
    expect(around.handedBack).toBe(0);
    expect(around.ends).toMatchObject([{ ending: 'output_not_stored', failure: { code: 'output_storage_error' } }]);
  });

  it.each([
    [1, { handedBack: 1, losses: [] }],
    [10, { handedBack: 1, losses: [] }],
    [11, { handedBack: 0, losses: [{ by: 'worker', reason: 'its worker failed' }] }],
  ])('that broke off before its engine was given it costs its job none, up to the tenth: %i', async (attempt, end) => {
    const around = new Surroundings();
    const path = join(folder, `in-the-way-${attempt}`);
    await writeFile(path, '');
    const workFolder = new WorkFolder(path, logger);
    const run = jest.fn();
    const slot = new EngineSlot({ kind: 'cpu', run } as unknown as Engine, logger);
    const claimed = claimedAttempt({ jobId: randomUUID(), attempt });
    await new Attempt({ ...around.parts(folder, {}), workFolder }, claimed, slot, staying).run();
    expect(run).not.toHaveBeenCalled();
    expect(around).toMatchObject(end);
    expect(workFolder.problem).not.toBeNull();
  });

  it.each([
    [true, ['finish']],
    [false, ['finish', 'record']],
  ])(
    'records its last output with its end, or before it where both cannot go together: %s',
    async (together, calls) => {
      const around = new Surroundings();
      around.endsTogether = together;
      let settle: () => void = () => undefined;
      const settled = new Promise<void>((resolve) => (settle = resolve));
      around.store = () => settled;
      const run = (_work: EngineWork, context: EngineRunContext): Promise<EngineResult> => {
        context.onEvent({ type: 'output', output: { nodeId: '1', index: 0, kind: 'text', text: 'made' } });
        return Promise.resolve({ status: 'succeeded' });
      };
      const slot = new EngineSlot({ kind: 'cpu', run } as unknown as Engine, logger);
      await new Attempt(around.parts(folder, {}), claimedAttempt({ jobId: randomUUID() }), slot, staying).run({
        onSettled: settle,
      });
      expect(around.calls).toEqual(calls);
      expect(around.ends).toMatchObject([{ ending: 'succeeded' }]);
    },
  );

  it('counts no engine time while it stores what it made', async () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(1_000);
    const run = (_work: EngineWork, context: EngineRunContext): Promise<EngineResult> => {
      context.onEvent({ type: 'started' });
      clock.mockReturnValue(1_040);
      context.onEvent({ type: 'output', output: { nodeId: '1', index: 0, kind: 'text', text: 'made' } });
      return Promise.resolve({ status: 'succeeded' });
    };
    const around = new Surroundings();
    const claimed = claimedAttempt({ jobId: randomUUID() });
    const slot = new EngineSlot({ kind: 'cpu', run } as unknown as Engine, logger);
    const attempt = new Attempt(around.parts(folder, {}), claimed, slot, staying);
    let settle: () => void = () => undefined;
    const settled = new Promise<void>((resolve) => (settle = resolve));
    around.store = async () => {
      await settled;
      clock.mockReturnValue(9_000);
      await attempt.checkForCancel();
    };
    await attempt.run({ onSettled: settle });
    clock.mockRestore();
    expect(around.engineMs).toEqual([40]);
    expect(around.ends).toMatchObject([{ ending: 'succeeded', engineMs: 40 }]);
  });
});
