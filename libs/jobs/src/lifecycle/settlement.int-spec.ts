import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { JobWorld, cloudScope, endingOf } from '../fixtures/job-world';
import type { ClaimedAttempt, Fence } from '../state/job';
import { requestCancel } from './cancel.store';
import { endJob } from './end.store';
import { giveUpAttempt, handBackAttempt, takeBackAttempt } from './release.store';
import {
  BILLED,
  RELEASES,
  REPORTED_ENDINGS,
  SETTLEMENT,
  resubmitAdvice,
  type Billed,
  type Release,
} from './settlement';

/** Engine time that a worker reports with its last heartbeat, and with the end. */
const [LAST_MS, END_MS] = [7_000, 9_000];
const HOLD_MICROS = 60_000n;
/** Of engine time at a thousand micro-credits a second. */
const charge: Record<Billed, bigint> = { billable: 9_000n, waived: 0n, as_last_reported: 7_000n };

let test: TestDatabase;
let world: JobWorld;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test, { priceMicrosPerSecond: 1_000n, holdMicros: HOLD_MICROS });
});
afterAll(() => test.drop());
afterEach(() => jest.restoreAllMocks());

async function running(): Promise<ClaimedAttempt> {
  const claimed = await world.start(await world.submit());
  await world.claimedSecondsAgo(claimed.jobId, 60);
  await world.beat(claimed, LAST_MS);
  return claimed;
}

describe('what the table says is billed', () => {
  const reported = REPORTED_ENDINGS.flatMap((ending) => BILLED.map((billed) => [ending, billed] as const));
  it.each(reported)('of an attempt that ends as %s: %s', async (ending, billed) => {
    jest.replaceProperty(SETTLEMENT, ending, billed);
    const claimed = await running();
    if (ending === 'canceled_while_running') {
      await requestCancel(test.database, cloudScope(claimed.accountId), claimed.jobId);
    }
    const moved = await world.end(claimed, endingOf(ending, { engineMs: END_MS }));
    expect(moved?.chargedMicros).toBe(charge[billed]);
  });

  it.each(['waived', 'as_last_reported'] as const)('of a job whose deadline passes: %s', async (billed) => {
    jest.replaceProperty(SETTLEMENT, 'deadline_passed', billed);
    const { jobId } = await running();
    await world.passDeadline(jobId);
    const moved = await endJob(test.database, { kind: 'overdue', jobId }, endingOf('deadline_passed'));
    expect(moved?.chargedMicros).toBe(charge[billed]);
  });

  it('of a job whose deadline passes after its worker was lost: nothing', async () => {
    const { jobId } = await running();
    await world.passLease(jobId);
    await world.passDeadline(jobId);
    const moved = await endJob(test.database, { kind: 'overdue', jobId }, endingOf('deadline_passed'));
    expect(moved?.chargedMicros).toBe(0n);
  });

  const release: Record<Release, (fence: Fence) => Promise<unknown>> = {
    handed_back: (fence) => handBackAttempt(test.database, fence),
    given_up: (fence) => giveUpAttempt(test.database, fence),
    taken_back: async ({ jobId }) => {
      await world.passLease(jobId);
      return takeBackAttempt(test.database, jobId);
    },
  };
  const released = RELEASES.flatMap((kind) =>
    (['waived', 'as_last_reported'] as const).map((one) => [kind, one] as const),
  );
  it.each(released)('of an attempt that was %s: %s, beside what ends the job', async (kind, billed) => {
    jest.replaceProperty(SETTLEMENT, kind, billed);
    const first = await running();
    expect(await release[kind](first)).not.toBeNull();
    const second = await world.start(first);
    await world.claimedSecondsAgo(second.jobId, 60);
    const moved = await world.end(second, endingOf('succeeded', { engineMs: END_MS }));
    // The lease of an attempt that is taken back has run out.
    expect(moved?.chargedMicros).toBe(charge.billable + (kind === 'taken_back' ? 0n : charge[billed]));
  });
});

describe('advice to submit a job again', () => {
  it('says that nothing was charged exactly where that is so', () => {
    expect(resubmitAdvice('attempts_used_up')).toBe('Nothing was charged; submit the job again.');
    jest.replaceProperty(SETTLEMENT, 'attempts_used_up', 'as_last_reported');
    expect(resubmitAdvice('attempts_used_up')).toBe('Submit the job again.');
  });
});
