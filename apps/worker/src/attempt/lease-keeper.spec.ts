import { createLogger } from '@millrace/platform';
import { LeaseKeeper, type LeaseRecords } from './lease-keeper';

const LEASE_MS = 9_000;
const INTERVAL_MS = LEASE_MS / 3;
const RUN = { progress: null, engineMs: 0 };
const FENCE = { jobId: 'job', attempt: 1, leaseToken: 'token' };
const logger = createLogger('test', 'silent');

type Answer = Awaited<ReturnType<LeaseRecords['heartbeat']>>;
const running = { status: 'running' as const, exhausted: false, overtime: false };

interface Beat {
  atMs: number;
  signal: AbortSignal;
  answer: (answer: Answer) => void;
}

let beats: Beat[];
let startedAtMs: number;
let lease: LeaseKeeper;
beforeEach(() => {
  jest.useFakeTimers();
  beats = [];
  startedAtMs = performance.now();
});
afterEach(async () => {
  for (const { answer } of beats) answer(running);
  await lease.close();
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

/** A lease whose heartbeats are answered at once, but for those that hang. @param ends whether a heartbeat whose signal aborts fails. */
function leaseOf(hangs: (nth: number) => boolean, ends = true): void {
  const heartbeat: LeaseRecords['heartbeat'] = (_fence, _run, signal) =>
    new Promise((answer, reject) => {
      beats.push({ atMs: performance.now() - startedAtMs, signal, answer });
      if (!hangs(beats.length)) return answer(running);
      if (ends) signal.addEventListener('abort', () => reject(new Error('ended')));
    });
  lease = new LeaseKeeper({ heartbeat }, FENCE, LEASE_MS, RUN, logger);
}

describe('a lease', () => {
  it.each([
    ['can be ended', true],
    ['cannot be ended', false],
  ])('holds where a heartbeat hangs that %s: the next is sent in its time', async (_, ends) => {
    leaseOf((nth) => nth === 2, ends);
    await jest.advanceTimersByTimeAsync(4 * INTERVAL_MS);
    expect(beats.map(({ atMs }) => atMs)).toEqual([3_000, 6_000, 9_000, 12_000]);
    expect(beats.map(({ signal }) => signal.aborted)).toEqual([false, true, false, false]);
    expect(lease.end).toBeNull();
  });

  it('has two heartbeats under way at most that cannot be ended, and sends the next when one is answered', async () => {
    leaseOf(() => true, false);
    await jest.advanceTimersByTimeAsync(3 * INTERVAL_MS);
    expect(beats.map(({ atMs }) => atMs)).toEqual([3_000, 6_000]);
    beats[1]?.answer(running);
    await jest.advanceTimersByTimeAsync(INTERVAL_MS);
    expect(beats.map(({ atMs }) => atMs)).toEqual([3_000, 6_000, 12_000]);
    expect(lease.end).toBeNull();
  });

  it('is lost where every heartbeat hangs, once it is over', async () => {
    leaseOf(() => true);
    await jest.advanceTimersByTimeAsync(LEASE_MS - 1);
    expect(lease.signal.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(INTERVAL_MS + 1);
    expect(lease.end).toBe('lost');
    expect(lease.lost.aborted).toBe(true);
  });

  it('gives a heartbeat that was asked for between two a whole interval', async () => {
    leaseOf((nth) => nth === 1);
    await jest.advanceTimersByTimeAsync(INTERVAL_MS - 100);
    const asked = lease.beat();
    await jest.advanceTimersByTimeAsync(INTERVAL_MS - 1);
    expect(beats.map(({ signal }) => signal.aborted)).toEqual([false]);
    await jest.advanceTimersByTimeAsync(1);
    await asked;
    expect(beats.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  });

  it('is closed at once where a heartbeat hangs', async () => {
    leaseOf(() => true);
    await jest.advanceTimersByTimeAsync(INTERVAL_MS);
    await lease.close();
    expect(beats.map(({ signal }) => signal.aborted)).toEqual([true]);
  });

  it('is renewed by another heartbeat where one is under way that may hang', async () => {
    leaseOf((nth) => nth === 1);
    await lease.refresh();
    expect(beats).toEqual([]);
    await jest.advanceTimersByTimeAsync(INTERVAL_MS + 1_000);
    await lease.refresh();
    expect(beats.map(({ atMs }) => atMs)).toEqual([3_000, 4_000]);
    expect(beats.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  });

  it('is renewed as often as a shorter one demands, once a renewal says that it lasts no longer', async () => {
    leaseOf((nth) => nth === 1);
    await jest.advanceTimersByTimeAsync(INTERVAL_MS);
    beats[0]?.answer({ ...running, leaseSeconds: 3 });
    await jest.advanceTimersByTimeAsync(2_500);
    expect(beats.map(({ atMs }) => atMs)).toEqual([3_000, 4_000, 5_000]);
    expect(lease.end).toBeNull();
  });

  it('goes by what a heartbeat says that was answered after the next was sent', async () => {
    leaseOf((nth) => nth <= 2, false);
    await jest.advanceTimersByTimeAsync(2 * INTERVAL_MS);
    beats[0]?.answer({ status: 'canceling', exhausted: false, overtime: false });
    await jest.advanceTimersByTimeAsync(0);
    expect(lease.end).toBe('canceled');
    expect(lease.lost.aborted).toBe(false);
  });
});
