import { getMaxListeners } from 'node:events';
import { collectGarbage, eventually, followersOf } from '@millrace/testing';
import { joinSignals } from './joined-signal';

const MANY = 100;

describe('a signal that follows others', () => {
  let leaving: AbortController;
  beforeEach(() => {
    leaving = new AbortController();
  });

  it.each([0, 1])('aborts when the first of them does, with its reason: %i', (first) => {
    const controllers = [leaving, new AbortController()];
    const { signal } = joinSignals(...controllers.map((controller) => controller.signal));
    const seen = jest.fn();
    signal.addEventListener('abort', seen);
    expect(signal.aborted).toBe(false);
    const reason = new Error('first');
    controllers[first]?.abort(reason);
    controllers[1 - first]?.abort(new Error('second'));
    expect(signal.reason).toBe(reason);
    expect(seen).toHaveBeenCalledTimes(1);
  });

  it('is aborted from the beginning where one of them is', () => {
    leaving.abort(new Error('gone'));
    const { signal } = joinSignals(new AbortController().signal, leaving.signal);
    expect(signal.reason).toBe(leaving.signal.reason);
  });

  it('leaves nothing on what lives longer, and does not abort, once it is released', () => {
    const joined = Array.from({ length: MANY }, () => joinSignals(leaving.signal, new AbortController().signal));
    for (const { signal, release } of joined) {
      // Who is given it may follow it in turn.
      AbortSignal.any([signal, new AbortController().signal]);
      release();
    }
    expect(followersOf(leaving.signal)).toBe(0);
    leaving.abort();
    expect(joined.filter(({ signal }) => signal.aborted)).toEqual([]);
  });

  it('may be one of many, which is no sign of a leak', () => {
    joinSignals(leaving.signal);
    expect(getMaxListeners(leaving.signal)).toBe(Number.POSITIVE_INFINITY);
  });

  it('keeps a time limit that nothing else refers to', async () => {
    const { signal } = joinSignals(leaving.signal, AbortSignal.timeout(50));
    await collectGarbage();
    await eventually('the limit', () => signal.aborted, 10_000);
    expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
  });
});
