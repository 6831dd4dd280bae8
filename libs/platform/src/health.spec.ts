import 'reflect-metadata';
import { createLogger } from './logger';
import { Metrics } from './metrics/metrics';
import { openOpsListener, type OpenListener } from './ops-listener';
import type { ReadinessCheck } from './health';
import { Shutdown } from './shutdown';

/** All but the clock. */
const TIMERS = [
  ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask'] as const),
  ...(['clearImmediate', 'clearInterval', 'clearTimeout', 'setImmediate', 'setInterval', 'setTimeout'] as const),
];
const logger = createLogger('test', 'silent');

let ops: OpenListener;
afterEach(async () => {
  jest.useRealTimers();
  await ops.close();
});

async function listenWith(readiness: ReadinessCheck[]): Promise<void> {
  const own = { logger, metrics: new Metrics('worker'), shutdown: new Shutdown(logger) };
  ops = await openOpsListener({ ...own, host: '127.0.0.1', port: 0, readiness });
}

/** What a probe is answered. */
async function probed(path = '/health/ready'): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${ops.port}${path}`);
  await response.arrayBuffer();
  return response.status;
}

describe('a probe for readiness', () => {
  it('finds a process ready as soon as it says so itself', async () => {
    let isUp = false;
    const check = (): Promise<void> => (isUp ? Promise.resolve() : Promise.reject(new Error('it starts')));
    await listenWith([{ name: 'worker', check, isOwn: true }]);
    expect(await probed()).toBe(503);
    isUp = true;
    expect(await probed()).toBe(200);
    isUp = false;
    expect(await probed()).toBe(503);
  });

  it('makes a check of something outside the process twice a second at most', async () => {
    jest.useFakeTimers({ doNotFake: TIMERS });
    let asked = 0;
    await listenWith([{ name: 'database', check: () => Promise.resolve(void (asked += 1)) }]);
    expect([await probed(), await probed(), asked]).toEqual([200, 200, 1]);
    jest.setSystemTime(Date.now() + 600);
    expect([await probed(), asked]).toEqual([200, 2]);
  });

  it('is at its own path alone: one with a slash at its end is another', async () => {
    await listenWith([]);
    expect([await probed(), await probed('/health/ready/'), await probed('/metrics/')]).toEqual([200, 404, 404]);
  });
});
