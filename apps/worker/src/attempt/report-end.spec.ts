import { createLogger } from '@millrace/platform';
import { claimedAttempt } from './fixtures/claimed-attempt';
import { reportEnd, type EndReport } from './report-end';

const logger = createLogger('test', 'silent');
const away = Object.assign(new Error('the server is a standby'), { code: 'ECONNREFUSED' });

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** Report that an attempt is handed back, to a database that is away for so many tries. */
function report(failures: number): { handBack: jest.Mock; reported: Promise<boolean> } {
  const handBack = jest.fn().mockResolvedValue(null);
  for (let n = 0; n < failures; n += 1) handBack.mockRejectedValueOnce(away);
  const lifecycle = { finish: jest.fn(), giveUp: jest.fn(), lackRoom: jest.fn(), handBack };
  const jobs = { lifecycle, outputs: { finish: jest.fn() } };
  return { handBack, reported: reportEnd(jobs, claimedAttempt(), { kind: 'handed_back' }, logger) };
}

describe('the end of an attempt', () => {
  it('is recorded again while PostgreSQL is away', async () => {
    const { handBack, reported } = report(5);
    await jest.advanceTimersByTimeAsync(60_000);
    await reported;
    expect(handBack).toHaveBeenCalledTimes(6);
  });

  it('fails when PostgreSQL stays away, and its attempt is lost', async () => {
    const { reported } = report(10_000);
    const failed = expect(reported).rejects.toBe(away);
    await jest.advanceTimersByTimeAsync(120_000);
    await failed;
  });

  it.each([true, false])('with an output is recorded as one, or not at all: %s', async (isWhole) => {
    const lifecycle = { finish: jest.fn(), giveUp: jest.fn(), lackRoom: jest.fn(), handBack: jest.fn() };
    const finish = jest.fn().mockRejectedValueOnce(away).mockResolvedValue(isWhole);
    const end = { kind: 'finished', result: {}, last: {} } as EndReport;
    const reported = reportEnd({ lifecycle, outputs: { finish } }, claimedAttempt(), end, logger);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await reported).toBe(isWhole);
    expect(finish).toHaveBeenCalledTimes(2);
    expect(lifecycle.finish).not.toHaveBeenCalled();
  });
});
