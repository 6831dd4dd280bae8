import type { JobStatus } from '@millrace/contracts';
import { describeAttempts, type AttemptsRow, type RecordedAttempt } from './job-attempts';

const AT = new Date('2030-01-01T00:00:00Z');
const attempt = (
  number: number,
  outcome: RecordedAttempt['outcome'],
  engineMs: number | null = null,
  retried: Pick<RecordedAttempt, 'error' | 'billedMs'> = { error: null, billedMs: null },
): RecordedAttempt => ({ number, outcome, engineMs, startedAt: AT, endedAt: outcome === null ? null : AT, ...retried });
const job = (status: JobStatus, attempts: RecordedAttempt[], facts: Partial<AttemptsRow> = {}): AttemptsRow => ({
  status,
  attempts,
  error: null,
  retry: null,
  hasPrice: true,
  isCharged: ['succeeded', 'failed', 'canceled'].includes(status),
  ...facts,
});
const charges = (row: AttemptsRow): (string | null)[] => describeAttempts(row).map(({ charge }) => charge);

describe('the attempts of a job', () => {
  it('are charged for the one that succeeded, and not for those that were lost', () => {
    const attempts = [attempt(1, 'lost'), attempt(2, 'lost', 900), attempt(3, 'succeeded', 500)];
    expect(charges(job('succeeded', attempts))).toEqual(['not_charged', 'not_charged', 'charged']);
  });

  it('are charged for the longest where the job did not succeed', () => {
    expect(charges(job('canceled', [attempt(1, 'lost', 900), attempt(2, 'canceled', 100)]))).toEqual([
      'charged',
      'not_charged',
    ]);
    expect(charges(job('failed', [attempt(1, 'failed', 0)]))).toEqual(['charged']);
  });

  it('are charged for none where the job cost nothing, and say nothing of it where jobs have no price', () => {
    expect(charges(job('failed', [attempt(1, 'lost')], { isCharged: false }))).toEqual(['not_charged']);
    expect(charges(job('failed', [attempt(1, 'lost')], { isCharged: false, hasPrice: false }))).toEqual([null]);
  });

  it('leave open what is not decided yet', () => {
    expect(charges(job('running', [attempt(1, 'lost'), attempt(2, 'lost', 900), attempt(3, null)]))).toEqual([
      'not_charged',
      null,
      null,
    ]);
  });

  it('say of one that was handed back for lack of room why, also where the job was canceled after it', () => {
    const error = { code: 'input_unavailable', message: 'The disk has no room for a.safetensors.' } as const;
    const noRoom = attempt(1, 'handed_back', null, { error, billedMs: null });
    const [shown] = describeAttempts(job('canceled', [noRoom], { isCharged: false }));
    expect(shown).toMatchObject({ error, charge: 'not_charged' });
    expect(shown?.message).toBe('The worker had no room for the models of the job. No further attempt was made.');
  });

  it('say how each ended, and the error of the one that ended the job', () => {
    const error = { code: 'worker_lost', message: 'The worker was lost.' } as const;
    const shown = describeAttempts(job('failed', [attempt(1, 'handed_back'), attempt(2, 'lost')], { error }));
    expect(shown.map(({ message }) => message)).toEqual([
      'The worker was stopped and handed the job back. The job was given to another worker.',
      'The worker was lost. No further attempt was made.',
    ]);
    expect(shown.map((one) => one.error)).toEqual([null, error]);
  });
});
