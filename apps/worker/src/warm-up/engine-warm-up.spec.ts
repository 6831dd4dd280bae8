import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import type { Engine, EngineRunContext, EngineWork, EngineResult } from '@millrace/engines';
import { createTestFolder, type TestFolder } from '@millrace/testing';
import { EngineWarmUp, WarmUpFailed } from './engine-warm-up';

const workflow = '{"1": {"class_type": "Show", "inputs": {}}}';

let folder: TestFolder;
beforeEach(async () => void (folder = await createTestFolder()));
afterEach(() => folder.drop());

type Run = (work: EngineWork, context: EngineRunContext) => Promise<EngineResult>;
const engineOf = (run: Run): Engine => ({ kind: 'cpu', run, reset: () => Promise.resolve() }) as unknown as Engine;
const warmUpOf = (graph: string | null, limitMs = 60_000): EngineWarmUp =>
  new EngineWarmUp({
    warmUp: () => Promise.resolve(graph === null ? null : { workflow: graph, accountId: 'a' }),
    catalogue: () => ({}),
    models: () => null,
    folder: folder.path,
    limitMs,
    logger: pino({ level: 'silent' }),
  });

describe('the warm-up of an engine', () => {
  it('runs the graph, and keeps nothing of what it makes', async () => {
    const ran: EngineWork[] = [];
    const engine = engineOf(async (work) => {
      ran.push(work);
      writeFileSync(join(work.outputDir, 'a.png'), 'bytes');
      return { status: 'succeeded' };
    });
    const times = await warmUpOf(workflow).run(engine);
    expect(times).toEqual({ modelsMs: null, warmUpMs: expect.any(Number) as number });
    expect([ran.length, ran[0]?.graph.text, existsSync(ran[0]?.outputDir ?? '')]).toEqual([1, workflow, false]);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('is nothing where the deployment has no graph for it', async () => {
    const engine = engineOf(() => Promise.reject(new Error('it ran')));
    expect(await warmUpOf(null).run(engine)).toEqual({ modelsMs: null, warmUpMs: null });
  });

  it.each<[string, EngineResult, string]>([
    [
      'the graph fails',
      {
        status: 'failed',
        failure: {
          code: 'node_execution_error',
          message: 'out of memory',
          nodeId: '3',
          classType: 'K',
          traceback: null,
        },
      },
      'node 3: out of memory',
    ],
    ['the engine is lost', { status: 'lost', reason: 'it died' }, 'it died'],
    ['the disk is full', { status: 'disk_failed', reason: 'the disk is full' }, 'the disk is full'],
  ])('fails with the reason where %s', async (_how, result, words) => {
    const failing = warmUpOf(workflow).run(engineOf(() => Promise.resolve(result)));
    await expect(failing).rejects.toThrow(words);
    await expect(failing).rejects.toBeInstanceOf(WarmUpFailed);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('is interrupted when it takes too long, and says so', async () => {
    const engine = engineOf(
      (_work, { signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve({ status: 'interrupted' }))),
    );
    await expect(warmUpOf(workflow, 20).run(engine)).rejects.toThrow('it took longer than 0 s');
  });

  it('begins after the one before has ended, which takes its models from the engine then', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
    try {
      const ends: (() => void)[] = [];
      const engine = engineOf(() => new Promise((resolve) => ends.push(() => resolve({ status: 'succeeded' }))));
      const warmUp = warmUpOf(workflow);
      const ran = async (count: number): Promise<void> => {
        while (ends.length < count) await new Promise(setImmediate);
      };
      const first = expect(warmUp.run(engine)).rejects.toThrow('it took longer than 60 s');
      await ran(1);
      await jest.advanceTimersByTimeAsync(70_000);
      await first;
      const second = warmUp.run(engine);
      for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
      expect(ends).toHaveLength(1);
      ends[0]?.();
      await ran(2);
      ends[1]?.();
      expect(await second).toEqual({ modelsMs: null, warmUpMs: expect.any(Number) as number });
    } finally {
      jest.useRealTimers();
    }
  });
});
