import pino from 'pino';
import type { Engine, EngineHealth, EngineResult } from '@millrace/engines';
import { parseWorkflow } from '@millrace/workflow';
import { EngineSlot } from './engine-slot';

const WELL: EngineHealth = { ready: true, problem: null, version: '1', residentModels: [] };
const AWAY: EngineHealth = { ...WELL, ready: false, problem: 'It restarts.' };
const TIMES = { modelsMs: null, warmUpMs: 5 };
const WORK = {
  runId: 'r',
  cacheScope: 's',
  graph: parseWorkflow('{}'),
  inputs: [],
  outputDir: '/out',
  maxOutputs: 10,
  extraData: {},
};

let health: EngineHealth;
let result: EngineResult;
let warmUps: number;
let warmUp: () => Promise<typeof TIMES>;
let nowMs: number;
beforeEach(() => {
  health = WELL;
  result = { status: 'succeeded' };
  warmUps = 0;
  warmUp = () => Promise.resolve(TIMES);
  nowMs = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterEach(() => jest.restoreAllMocks());

async function warmSlot(): Promise<EngineSlot> {
  const done = (): Promise<void> => Promise.resolve();
  const answers = { health: () => Promise.resolve(health), run: () => Promise.resolve(result) };
  const engine: Engine = {
    kind: 'cpu',
    start: done,
    close: done,
    reset: done,
    catalogue: () => Promise.resolve({}),
    ...answers,
  };
  const slot = new EngineSlot(engine, pino({ level: 'silent' }), undefined, () => {
    warmUps += 1;
    return warmUp();
  });
  await slot.warmUp();
  return slot;
}
const run = (slot: EngineSlot): Promise<EngineResult> =>
  slot.run(WORK, { signal: new AbortController().signal, onEvent: () => undefined });
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('an engine that was warmed up', () => {
  it('is not warmed up again while it is well', async () => {
    const slot = await warmSlot();
    await run(slot);
    await slot.health();
    expect([warmUps, slot.isSick]).toEqual([1, false]);
  });

  it('is warmed up again after a restart, and gets no run before', async () => {
    const slot = await warmSlot();
    let finish = (): void => undefined;
    warmUp = () => new Promise((resolve) => (finish = () => resolve(TIMES)));
    health = AWAY;
    await slot.health();
    health = WELL;
    await slot.health();
    await slot.health();
    expect([warmUps, slot.isSick]).toEqual([2, true]);
    finish();
    await settled();
    await slot.health();
    expect([warmUps, slot.isSick]).toEqual([2, false]);
  });

  it('is warmed up again after it lost a run', async () => {
    const slot = await warmSlot();
    result = { status: 'lost', reason: 'it died' };
    await run(slot);
    await slot.health();
    expect([warmUps, slot.isSick]).toEqual([2, true]);
    await settled();
    await slot.health();
    expect(slot.isSick).toBe(false);
  });

  it('is not while an attempt has it, which its models are shown to, and gets no run meanwhile', async () => {
    const slot = await warmSlot();
    const leave = await slot.enter(new AbortController().signal);
    health = AWAY;
    await slot.health();
    health = WELL;
    await slot.health();
    expect([warmUps, slot.isSick]).toEqual([1, true]);
    leave();
    leave();
    await slot.health();
    await settled();
    await slot.health();
    expect([warmUps, slot.isSick]).toEqual([2, false]);
  });

  it('is not while an attempt waits for it either, which would be shown its models beside the warm-up', async () => {
    const slot = await warmSlot();
    const signal = new AbortController().signal;
    const leave = await slot.enter(signal);
    const next = slot.enter(signal);
    health = AWAY;
    await slot.health();
    health = WELL;
    leave();
    await slot.health();
    expect(warmUps).toBe(1);
    (await next)();
    await slot.health();
    expect(warmUps).toBe(2);
  });

  it('says why it cannot be, and is tried again after pauses that grow', async () => {
    const slot = await warmSlot();
    warmUp = () => Promise.reject(new Error('node 3: no such model'));
    health = AWAY;
    await slot.health();
    health = WELL;
    await slot.health();
    await settled();
    expect(await slot.health()).toMatchObject({
      ready: false,
      problem: 'The warm-up failed: node 3: no such model',
    });
    expect([warmUps, slot.isSick]).toEqual([2, true]);
    nowMs += 120_000;
    warmUp = () => Promise.resolve(TIMES);
    await slot.health();
    await settled();
    expect(await slot.health()).toEqual(WELL);
    expect([warmUps, slot.isSick]).toEqual([3, false]);
  });

  it('is not warmed up twice for being too busy with it to answer', async () => {
    const slot = await warmSlot();
    let finish = (): void => undefined;
    warmUp = () => new Promise((resolve) => (finish = () => resolve(TIMES)));
    result = { status: 'lost', reason: 'it died' };
    await run(slot);
    await slot.health();
    health = AWAY;
    await slot.health();
    finish();
    await settled();
    health = WELL;
    await slot.health();
    expect([warmUps, slot.isSick]).toEqual([2, false]);
  });
});

it('an engine that was not warmed up yet is not, beside the boot, for coming up late', async () => {
  const slot = new EngineSlot(
    { health: () => Promise.resolve(health) } as Engine,
    pino({ level: 'silent' }),
    undefined,
    () => {
      warmUps += 1;
      return warmUp();
    },
  );
  health = AWAY;
  await slot.health();
  health = WELL;
  await slot.health();
  expect(warmUps).toBe(0);
});
