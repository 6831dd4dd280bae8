import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { CreditJobs } from '../fixtures/credit-jobs';
import { requestCancel } from '../lifecycle/cancel.store';

const PRICE = 1_000n;

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

/** A running job with this hold, and the account that pays for it. */
async function running(micros: bigint, hold: bigint, spendLimitMicros?: bigint) {
  const jobs = await CreditJobs.make(test, micros);
  await jobs.submit(hold, PRICE, spendLimitMicros);
  const claimed = await jobs.start();
  if (claimed === null) throw new Error('nothing was claimed');
  return { jobs, claimed };
}

describe('a run that outlasts its hold', () => {
  it('has it extended in steps from what the account has, and is charged for all of its time', async () => {
    const { jobs, claimed } = await running(1_000_000n, 30_000n);
    expect(await jobs.beat(claimed, 3_000)).toEqual({ status: 'running', exhausted: false, overtime: false });
    expect(await jobs.balance()).toEqual({ availableMicros: 970_000n, heldMicros: 30_000n });
    // 20 s and the length of a lease need more than 30 s of price.
    expect(await jobs.beat(claimed, 21_000)).toEqual({ status: 'running', exhausted: false, overtime: false });
    expect(await jobs.balance()).toEqual({ availableMicros: 910_000n, heldMicros: 90_000n });
    const moved = await jobs.end(claimed, 75_500, 'succeeded');
    expect(moved?.chargedMicros).toBe(75_500n);
    expect(await jobs.balance()).toEqual({ availableMicros: 924_500n, heldMicros: 0n });
    expect(await jobs.findings()).toEqual([]);
  });

  it('is stopped when there is nothing left, and is charged exactly what was held', async () => {
    const { jobs, claimed } = await running(50_000n, 30_000n);
    expect(await jobs.beat(claimed, 25_000)).toEqual({ status: 'running', exhausted: false, overtime: false });
    expect(await jobs.balance()).toEqual({ availableMicros: 0n, heldMicros: 50_000n });
    expect(await jobs.beat(claimed, 49_999)).toEqual({ status: 'running', exhausted: false, overtime: false });
    expect(await jobs.beat(claimed, 50_000)).toEqual({ status: 'running', exhausted: true, overtime: false });
    const moved = await jobs.end(claimed, 52_000, 'credits_exhausted');
    expect(moved?.chargedMicros).toBe(50_000n);
    expect(await jobs.balance()).toEqual({ availableMicros: 0n, heldMicros: 0n });
    expect(await jobs.findings()).toEqual([]);
  });

  it('is stopped at the limit of its submission, however much the account has', async () => {
    const { jobs, claimed } = await running(1_000_000n, 30_000n, 45_000n);
    expect(await jobs.beat(claimed, 25_000)).toEqual({ status: 'running', exhausted: false, overtime: false });
    expect(await jobs.balance()).toEqual({ availableMicros: 955_000n, heldMicros: 45_000n });
    expect(await jobs.beat(claimed, 45_000)).toEqual({ status: 'running', exhausted: true, overtime: false });
    expect((await jobs.end(claimed, 46_000, 'credits_exhausted'))?.chargedMicros).toBe(45_000n);
    expect(await jobs.balance()).toEqual({ availableMicros: 955_000n, heldMicros: 0n });
    expect(await jobs.findings()).toEqual([]);
  });

  it('goes on when credits are added in time', async () => {
    const { jobs, claimed } = await running(30_000n, 30_000n);
    await jobs.grant(5_000n);
    expect(await jobs.beat(claimed, 29_000)).toEqual({ status: 'running', exhausted: false, overtime: false });
    expect(await jobs.balance()).toEqual({ availableMicros: 0n, heldMicros: 35_000n });
  });

  it('is not extended once it is to be canceled, and pays for what it used', async () => {
    const { jobs, claimed } = await running(1_000_000n, 30_000n);
    await requestCancel(test.database, jobs.scope, claimed.jobId);
    expect(await jobs.beat(claimed, 25_000)).toEqual({ status: 'canceling', exhausted: false, overtime: false });
    expect((await jobs.balance()).heldMicros).toBe(30_000n);
    expect(await jobs.end(claimed, 26_000, 'succeeded')).toMatchObject({ status: 'canceled', chargedMicros: 26_000n });
  });

  it('keeps its longer hold for the next attempt when its worker is lost, and pays for that attempt alone', async () => {
    const { jobs, claimed } = await running(1_000_000n, 30_000n);
    await jobs.beat(claimed, 80_000);
    await jobs.lose(claimed);
    const { heldMicros } = await jobs.balance();
    expect(heldMicros).toBe(90_000n);
    const second = await jobs.start();
    expect(second?.attempt).toBe(2);
    if (second === null) return;
    expect(await jobs.beat(second, 1_000)).toEqual({ status: 'running', exhausted: false, overtime: false });
    expect((await jobs.balance()).heldMicros).toBe(90_000n);
    expect((await jobs.end(second, 4_000, 'succeeded'))?.chargedMicros).toBe(4_000n);
    expect(await jobs.findings()).toEqual([]);
  });
});

describe('a run past its execution deadline', () => {
  it('is charged for the engine time that its worker last reported', async () => {
    const { jobs, claimed } = await running(1_000_000n, 30_000n);
    await jobs.beat(claimed, 7_000);
    expect((await jobs.expire(claimed.jobId))?.chargedMicros).toBe(7_000n);
  });

  it('is charged nothing when its worker is lost', async () => {
    const { jobs, claimed } = await running(1_000_000n, 30_000n);
    await jobs.beat(claimed, 7_000);
    await jobs.world.passLease(claimed.jobId);
    expect((await jobs.expire(claimed.jobId))?.chargedMicros).toBe(0n);
    expect(await jobs.balance()).toEqual({ availableMicros: 1_000_000n, heldMicros: 0n });
  });
});
