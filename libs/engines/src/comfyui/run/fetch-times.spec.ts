import { FetchTimes } from './fetch-times';

describe('the times that fetching takes', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  /** Something was fetched in so many milliseconds. */
  async function fetched(times: FetchTimes, ms: number, result: Promise<void> = Promise.resolve()): Promise<void> {
    await times.measured(async () => {
      jest.advanceTimersByTime(ms);
      await result;
    });
  }

  it('are not known to be short before the first', () => {
    expect(new FetchTimes(50).areQuick).toBe(false);
  });

  it('are expected to be as the last was', async () => {
    const times = new FetchTimes(50);
    await fetched(times, 50);
    expect(times.areQuick).toBe(true);
    await fetched(times, 51);
    expect(times.areQuick).toBe(false);
  });

  it('count where the fetching fails, too', async () => {
    const times = new FetchTimes(50);
    await expect(fetched(times, 1, Promise.reject(new Error('gone')))).rejects.toThrow('gone');
    expect(times.areQuick).toBe(true);
  });
});
