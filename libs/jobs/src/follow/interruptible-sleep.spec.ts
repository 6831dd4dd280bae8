import { InterruptibleSleep } from './interruptible-sleep';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** Whether a sleep has ended, seen at any time. */
function watch(sleep: Promise<void>): { ended: boolean } {
  const seen = { ended: false };
  void sleep.then(() => (seen.ended = true));
  return seen;
}
const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

describe('a sleep', () => {
  it('lasts as long as it was asked to', async () => {
    const sleep = watch(new InterruptibleSleep(new AbortController().signal).sleep(100));
    await pass(99);
    expect(sleep.ended).toBe(false);
    await pass(1);
    expect(sleep.ended).toBe(true);
  });

  it('ends when woken, also before it begins', async () => {
    const idle = new InterruptibleSleep(new AbortController().signal);
    const sleep = watch(idle.sleep(1_000));
    idle.wake();
    await pass(0);
    expect(sleep.ended).toBe(true);
    idle.wake();
    const next = watch(idle.sleep(1_000));
    await pass(0);
    expect(next.ended).toBe(true);
  });

  it('that is shorter than an interrupted one before is not kept waiting by it', async () => {
    const idle = new InterruptibleSleep(new AbortController().signal);
    watch(idle.sleep(10_000));
    idle.wake();
    const sleep = watch(idle.sleep(10));
    await pass(10);
    expect(sleep.ended).toBe(true);
  });

  it('costs no timer of its own while one that fires sooner is set', async () => {
    const idle = new InterruptibleSleep(new AbortController().signal);
    for (let nth = 0; nth < 100; nth += 1) {
      watch(idle.sleep(1_000 + nth));
      idle.wake();
    }
    expect(jest.getTimerCount()).toBe(1);
    idle.close();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('ends when its signal aborts, and none begins after that', async () => {
    const stop = new AbortController();
    const idle = new InterruptibleSleep(stop.signal);
    const sleep = watch(idle.sleep(1_000));
    stop.abort();
    const next = watch(idle.sleep(1_000));
    await pass(0);
    expect([sleep.ended, next.ended, idle.aborted]).toEqual([true, true, true]);
  });
});
