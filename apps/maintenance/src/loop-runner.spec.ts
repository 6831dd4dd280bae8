import type { Database } from '@millrace/database';
import { Metrics, createLogger, type Loop } from '@millrace/platform';
import { LoopRunner } from './loop-runner';

const EVERY_MS = 100;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/**
 * Run a loop for `ms` of a fake clock. @returns when its runs began, and how often it logged.
 *
 * @param runOnce null: another process has the loop just then.
 */
async function runFor(
  ms: number,
  runOnce: () => Promise<number | null>,
  metrics = new Metrics('test'),
): Promise<{ beganAtMs: number[]; logs: object[] }> {
  const beganAtMs: number[] = [];
  const logs: object[] = [];
  const start = performance.now();
  const loop: Loop = {
    name: 'a-loop',
    everyMs: EVERY_MS,
    runOnce: () => Promise.resolve(0),
  };
  const withLock = (): Promise<number | null> => {
    beganAtMs.push(performance.now() - start);
    return runOnce();
  };
  const logger = createLogger('test', 'silent');
  jest.spyOn(logger, 'warn').mockImplementation((fields: unknown) => void logs.push(fields as object));
  const runner = new LoopRunner(loop, { withLock } as unknown as Database, metrics, logger);
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

  it('shows each outcome from 0 on, so that the first of a kind is seen', async () => {
    const metrics = new Metrics('test');
    await runFor(0, () => Promise.resolve(0), metrics);
    const text = await metrics.registry.metrics();
    for (const outcome of ['done', 'idle', 'failed'])
      expect(text).toContain(`millrace_loop_runs_total{loop="a-loop",outcome="${outcome}",role="test"} 0`);
    expect(text).not.toContain('millrace_loop_consecutive_failures{');
  });

  describe('shows how many of its runs have failed one after the other', () => {
    /** What is shown after runs that ended so; null: another process had the loop. */
    async function failuresAfter(...ends: (number | 'fails' | null)[]): Promise<number | undefined> {
      const metrics = new Metrics('test');
      const left = [...ends];
      let text: Promise<string> | undefined;
      await runFor(
        60_000,
        async () => {
          const end = left.shift();
          if (end === 'fails') throw new Error('it fails');
          if (end === undefined) text ??= metrics.registry.metrics();
          return end ?? null;
        },
        metrics,
      );
      const shown = /millrace_loop_consecutive_failures\{loop="a-loop",role="test"\} (\d+)/.exec((await text) ?? '');
      return shown === null ? undefined : Number(shown[1]);
    }

    it('which is none after one that did not', async () => {
      expect(await failuresAfter('fails', 'fails')).toBe(2);
      expect(await failuresAfter('fails', 'fails', 0)).toBe(0);
      expect(await failuresAfter('fails', 1, 'fails')).toBe(1);
    });

    it('and says nothing while another process has the loop, and goes on with its count afterwards', async () => {
      expect(await failuresAfter(0, null)).toBeUndefined();
      expect(await failuresAfter('fails', null)).toBeUndefined();
      expect(await failuresAfter('fails', null, 'fails')).toBe(2);
    });
  });
});
