import { Alarm } from './interruptible-sleep';

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
    const sleep = watch(new Alarm(new AbortController().signal).sleep(100));
    await pass(99);
    expect(sleep.ended).toBe(false);
    await pass(1);
    expect(sleep.ended).toBe(true);
  });

  it('ends with a ring, also with one that came before it', async () => {
    const alarm = new Alarm(new AbortController().signal);
    const sleep = watch(alarm.sleep(1_000));
    alarm.ring();
    await pass(0);
    expect(sleep.ended).toBe(true);
    alarm.ring();
    const next = watch(alarm.sleep(1_000));
    await pass(0);
    expect(next.ended).toBe(true);
  });

  it('that is shorter than one rung out of before is not kept waiting by it', async () => {
    const alarm = new Alarm(new AbortController().signal);
    watch(alarm.sleep(10_000));
    alarm.ring();
    const sleep = watch(alarm.sleep(10));
    await pass(10);
    expect(sleep.ended).toBe(true);
  });

  it('costs no timer of its own while one that goes off sooner is set', async () => {
    const alarm = new Alarm(new AbortController().signal);
    for (let nth = 0; nth < 100; nth += 1) {
      watch(alarm.sleep(1_000 + nth));
      alarm.ring();
    }
    expect(jest.getTimerCount()).toBe(1);
    alarm.close();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('ends when its signal aborts, and none begins after that', async () => {
    const stop = new AbortController();
    const alarm = new Alarm(stop.signal);
    const sleep = watch(alarm.sleep(1_000));
    stop.abort();
    const next = watch(alarm.sleep(1_000));
    await pass(0);
    expect([sleep.ended, next.ended, alarm.aborted]).toEqual([true, true, true]);
  });
});
