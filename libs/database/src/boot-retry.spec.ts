import { retryWhileStarting } from './boot-retry';

const TIMEOUT_MS = 30_000;
const away = Object.assign(new Error('the database system is starting up'), { code: 'ECONNREFUSED' });

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** Work that fails so often, and then returns its number of tries. */
function failing(times: number, error: Error): jest.Mock<Promise<number>> {
  let tries = 0;
  return jest.fn(async () => {
    tries += 1;
    if (tries <= times) throw error;
    return tries;
  });
}

describe('work of a process that starts', () => {
  it('is tried again while PostgreSQL is away', async () => {
    const done = retryWhileStarting(TIMEOUT_MS, failing(5, away));
    await jest.advanceTimersByTimeAsync(TIMEOUT_MS);
    expect(await done).toBe(6);
  });

  it('fails when PostgreSQL stays away', async () => {
    const failed = expect(retryWhileStarting(TIMEOUT_MS, failing(Infinity, away))).rejects.toBe(away);
    await jest.advanceTimersByTimeAsync(2 * TIMEOUT_MS);
    await failed;
  });

  it('fails at once with any other error', async () => {
    const wrong = new Error('no such table');
    const work = failing(1, wrong);
    await expect(retryWhileStarting(TIMEOUT_MS, work)).rejects.toBe(wrong);
    expect(work).toHaveBeenCalledTimes(1);
  });
});
