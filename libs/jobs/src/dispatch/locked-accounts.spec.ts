import type { DispatchedJob, Turn } from '../rotation';
import { LockedAccounts } from './locked-accounts';

const job: DispatchedJob = { jobId: 'job', attempt: 1 };
const served: Turn = { job, inFlight: 0, found: null, skipped: false };
const skipped: Turn = { ...served, skipped: true };
const lockTimeout = Object.assign(new Error('canceling statement due to lock timeout'), {
  name: 'DriverAdapterError',
  cause: { originalCode: '55P03' },
});

/** Take turns that come out so. @returns which of them waited. */
async function waits(accounts: LockedAccounts, outcomes: (Turn | Turn[] | Error)[]): Promise<boolean[]> {
  const waited: boolean[] = [];
  for (const outcome of outcomes) {
    await accounts.turns((waitMs) => {
      waited.push(waitMs > 0);
      return outcome instanceof Error
        ? Promise.reject(outcome)
        : Promise.resolve([outcome].flat() as [Turn, ...Turn[]]);
    });
  }
  return waited;
}

describe('an account that another statement has locked', () => {
  it('is skipped, and waited for in the turn after', async () => {
    expect(await waits(new LockedAccounts(), [served, skipped, served, served])).toEqual([false, false, true, false]);
  });

  it('is waited for after the last of several turns, unless it had one of them', async () => {
    const outcomes = [[skipped, skipped], served, [skipped, served], served];
    expect(await waits(new LockedAccounts(), outcomes)).toEqual([false, true, false, false]);
  });

  it('is waited for ever more seldom while that is in vain, and as before once it is served', async () => {
    const accounts = new LockedAccounts();
    const inVain = [skipped, lockTimeout, skipped, skipped, lockTimeout, skipped, skipped, skipped, skipped];
    expect(await waits(accounts, inVain)).toEqual([false, true, false, false, true, false, false, false, false]);
    expect(await waits(accounts, [served, skipped, served])).toEqual([true, false, true]);
  });

  it('leaves no turn with an error but its own', async () => {
    await expect(waits(new LockedAccounts(), [skipped, new Error('no')])).rejects.toThrow('no');
  });
});
