import type { Database } from '@millrace/database';
import { Metrics, createLogger, type Loop } from '@millrace/platform';
import { LoopRunner } from './loop-runner';

const EVERY_MS = 100;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** Run a loop for `ms` of a fake clock. @returns when its runs began, and how often it logged. */
async function runFor(ms: number, runOnce: () => Promise<number>): Promise<{ beganAtMs: number[]; logs: object[] }> {
  const beganAtMs: number[] = [];
  const logs: object[] = [];
  const start = performance.now();
  const loop: Loop = {
    name: 'a-loop',
    everyMs: EVERY_MS,
    everywhere: true,
    runOnce: () => {
      beganAtMs.push(performance.now() - start);
      return runOnce();
    },
  };
  const logger = createLogger('test', 'silent');
  jest.spyOn(logger, 'warn').mockImplementation((fields: unknown) => void logs.push(fields as object));
  const runner = new LoopRunner(loop, {} as Database, new Metrics('test'), logger);
  runner.start();
  await jest.advanceTimersByTimeAsync(ms);
  const stopped = runner.stop();
  await jest.advanceTimersByTimeAsync(0);
  await stopped;
  return { beganAtMs, logs };
}

describe('a loop', () => {
  it('pauses when it found no work', async () => {
    const { beganAtMs } = await runFor(10_000, () => Promise.resolve(0));
    expect(beganAtMs.length).toBeLessThanOrEqual(10_000 / (EVERY_MS * 0.9) + 1);
  });

  it('goes on at once while there is work', async () => {
    let left = 50;
    const { beganAtMs } = await runFor(500, () => Promise.resolve(left-- > 0 ? 1 : 0));
    expect(beganAtMs.length).toBeGreaterThanOrEqual(50);
  });

  it('that keeps failing runs ever more seldom, and logs the first failure and then once a minute', async () => {
    const { beganAtMs, logs } = await runFor(300_000, () => Promise.reject(new Error('Redis has no memory left')));
    expect(beganAtMs.length).toBeLessThan(100);
    expect(logs.length).toBeGreaterThanOrEqual(4);
    expect(logs.length).toBeLessThanOrEqual(6);
    expect(logs[0]).toMatchObject({ loop: 'a-loop', failures: 1 });
    expect(logs[1]).toMatchObject({ failures: expect.any(Number) as number });
    const counted = logs.reduce((sum, fields) => sum + (fields as { failures: number }).failures, 0);
    expect(counted).toBeLessThanOrEqual(beganAtMs.length);
  });
});
