import pino from 'pino';
import type { Engine, EngineHealth, EngineResult, EngineWork } from '@millrace/engines';
import { parseWorkflow } from '@millrace/workflow';
import { EngineSlot, type SlotBounds } from './engine-slot';

const BOUNDS: SlotBounds = { interruptGraceMs: 10, resetMs: 10, healthMs: 10 };
const WELL: EngineHealth = { ready: true, problem: null, version: '1', residentModels: ['a.safetensors'] };
const WORK: EngineWork = {
  runId: 'r',
  cacheScope: 's',
  graph: parseWorkflow('{}'),
  inputs: [],
  outputDir: '/out',
  maxOutputs: 10,
  extraData: {},
};

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

/** An engine whose answers the test gives. */
function scripted(answers: Partial<Engine>): Engine {
  return {
    kind: 'cpu',
    start: () => Promise.resolve(),
    close: () => Promise.resolve(),
    reset: () => Promise.resolve(),
    catalogue: () => Promise.resolve({}),
    health: () => Promise.resolve(WELL),
    run: () => Promise.resolve({ status: 'succeeded' }),
    ...answers,
  };
}

const slotOf = (answers: Partial<Engine>): EngineSlot =>
  new EngineSlot(scripted(answers), pino({ level: 'silent' }), BOUNDS);

const run = (slot: EngineSlot, signal = new AbortController().signal): Promise<EngineResult> =>
  slot.run(WORK, { signal, onEvent: () => undefined });

describe('an engine in its slot', () => {
  it('is given nothing while it has a fault of its own, which is looked at only while no attempt has it', async () => {
    let fault: string | null = 'Models of a run before cannot be taken from the engine.';
    const look = jest.fn(() => Promise.resolve(fault));
    const slot = new EngineSlot(scripted({}), pino({ level: 'silent' }), BOUNDS, null, look);
    expect(await slot.health()).toMatchObject({ ready: false, problem: fault });
    expect(slot.isSick).toBe(true);
    const leave = await slot.enter(new AbortController().signal);
    fault = null;
    await slot.health();
    expect(look).toHaveBeenCalledTimes(1);
    leave();
    await new Promise(setImmediate);
    expect(await slot.health()).toEqual(WELL);
    expect(slot.isSick).toBe(false);
  });

  it('is not had by an attempt before its fault has been looked at', async () => {
    let end = (_: string | null): void => undefined;
    const look = (): Promise<string | null> => new Promise((resolve) => (end = resolve));
    const slot = new EngineSlot(scripted({}), pino({ level: 'silent' }), BOUNDS, null, look);
    const health = slot.health();
    await new Promise(setImmediate);
    let isHad = false;
    const entered = slot.enter(new AbortController().signal).then((leave) => {
      isHad = true;
      leave();
    });
    await new Promise(setImmediate);
    expect(isHad).toBe(false);
    end(null);
    await Promise.all([health, entered]);
    expect(isHad).toBe(true);
  });

  it('is given nothing after an attempt that broke off until its health was asked for', async () => {
    const slot = slotOf({});
    slot.distrust();
    expect(slot.isSick).toBe(true);
    await slot.health();
    expect(slot.isSick).toBe(false);
  });

  it('runs, and is not asked how it is between runs that end well', async () => {
    const health = jest.fn(() => Promise.resolve(WELL));
    const slot = slotOf({ health });
    expect(await run(slot)).toEqual({ status: 'succeeded' });
    expect(slot.isSick).toBe(false);
    expect(health).not.toHaveBeenCalled();
  });

  it('is given nothing after a lost run until it reports to be ready: a sick engine would use up every job', async () => {
    let health: EngineHealth = { ...WELL, ready: false, problem: 'gone' };
    const slot = slotOf({
      health: () => Promise.resolve(health),
      run: () => Promise.resolve({ status: 'lost', reason: 'gone' }),
    });
    expect(await run(slot)).toMatchObject({ status: 'lost' });
    expect(slot.isSick).toBe(true);
    await slot.health();
    expect(slot.isSick).toBe(true);
    health = WELL;
    await slot.health();
    expect(slot.isSick).toBe(false);
  });

  it('is given nothing, too, once it reports not to be ready while it is idle', async () => {
    let health: EngineHealth = { ...WELL, ready: false, problem: 'gone' };
    const slot = slotOf({ health: () => Promise.resolve(health) });
    await slot.health();
    expect(slot.isSick).toBe(true);
    health = WELL;
    await slot.health();
    expect(slot.isSick).toBe(false);
  });

  it('is not sick for what it reports while it runs: the end of the run says how it is', async () => {
    let settle: (result: EngineResult) => void = () => undefined;
    const gone = { ...WELL, ready: false, problem: 'busy' };
    const slot = slotOf({
      health: () => Promise.resolve(gone),
      run: () => new Promise((resolve) => (settle = resolve)),
    });
    const running = run(slot);
    await slot.health();
    settle({ status: 'succeeded' });
    await running;
    expect(slot.isSick).toBe(false);
  });

  it('loses a run whose engine rejects, which none may', async () => {
    const slot = slotOf({ run: () => Promise.reject(new Error('a bug')) });
    expect(await run(slot)).toEqual({ status: 'lost', reason: 'Error: a bug' });
  });

  it('ends a run whose engine ignores the interrupt, and has the engine replaced', async () => {
    const reset = jest.fn(() => Promise.resolve());
    const abort = new AbortController();
    const slot = slotOf({ reset, run: never });
    const result = run(slot, abort.signal);
    abort.abort();
    expect(await result).toEqual({ status: 'interrupted' });
    expect(reset).toHaveBeenCalledTimes(1);
  });

  it('has an engine replaced that has ignored an interrupt for 20 seconds, and not before', async () => {
    jest.useFakeTimers();
    try {
      const reset = jest.fn(() => Promise.resolve());
      const slot = new EngineSlot(scripted({ reset, run: never }), pino({ level: 'silent' }));
      const abort = new AbortController();
      const result = run(slot, abort.signal);
      abort.abort();
      await jest.advanceTimersByTimeAsync(19_900);
      expect(reset).not.toHaveBeenCalled();
      await jest.advanceTimersByTimeAsync(100);
      expect(reset).toHaveBeenCalledTimes(1);
      expect(await result).toEqual({ status: 'interrupted' });
    } finally {
      jest.useRealTimers();
    }
  });

  it.each<[string, () => Promise<void>]>([
    ['fails', () => Promise.reject(new Error('no'))],
    ['never ends', never],
  ])('ends the run all the same when the replacement %s, and is not well from then on', async (_how, reset) => {
    const abort = new AbortController();
    let settle: (result: EngineResult) => void = () => undefined;
    const slot = slotOf({ reset, run: () => new Promise((resolve) => (settle = resolve)) });
    const result = run(slot, abort.signal);
    abort.abort();
    expect(await result).toEqual({ status: 'interrupted' });
    expect(slot.isSick).toBe(true);
    expect(await slot.health()).toMatchObject({
      ready: false,
      problem: expect.stringContaining('was to stop') as string,
    });
    settle({ status: 'interrupted' });
    await Promise.resolve();
    expect(slot.isSick).toBe(true);
    await slot.health();
    expect(slot.isSick).toBe(false);
  });

  it('is as it last reported while it is too busy to answer, and not ready when it is idle and does not answer', async () => {
    let health: () => Promise<EngineHealth> = () => Promise.resolve(WELL);
    let settle: (result: EngineResult) => void = () => undefined;
    const slot = slotOf({ health: () => health(), run: () => new Promise((resolve) => (settle = resolve)) });
    await slot.health();
    health = never;
    const running = run(slot);
    expect(await slot.health()).toEqual(WELL);
    settle({ status: 'succeeded' });
    await running;
    expect(await slot.health()).toMatchObject({
      ready: false,
      problem: expect.stringContaining('its health') as string,
    });
  });

  it('is had by one attempt at a time, in the order in which they came', async () => {
    const slot = slotOf({});
    const had: string[] = [];
    const enter = async (name: string): Promise<() => void> => {
      const leave = await slot.enter(new AbortController().signal);
      had.push(name);
      return leave;
    };
    const leave = await enter('first');
    const others = [enter('second'), enter('third')] as const;
    await new Promise(setImmediate);
    expect(had).toEqual(['first']);
    leave();
    const leaveToo = await others[0];
    expect(had).toEqual(['first', 'second']);
    leaveToo();
    await others[1];
  });

  it('is waited for no longer by an attempt that is to end, and by the next as long as another has it', async () => {
    const slot = slotOf({});
    const leave = await slot.enter(new AbortController().signal);
    const leaveUnused = await slot.enter(AbortSignal.abort());
    leaveUnused();
    const had = jest.fn();
    const next = slot.enter(new AbortController().signal).then(had);
    await new Promise(setImmediate);
    expect(had).not.toHaveBeenCalled();
    leave();
    await next;
  });

  it('is left as well by an attempt that has left it already', async () => {
    const slot = slotOf({});
    const over = never<void>();
    await slot.leave(over);
    await slot.leave(over);
  });

  it('is left by one attempt that stores what it made; the next that leaves it waits for that one', async () => {
    const slot = slotOf({});
    let end: () => void = () => undefined;
    await slot.leave(new Promise((resolve) => (end = resolve)));
    const left = jest.fn();
    const leaving = slot.leave(never()).then(left);
    await new Promise(setImmediate);
    expect(left).not.toHaveBeenCalled();
    end();
    await leaving;
  });
});
