import { readSettings } from '@millrace/platform';
import { jobSettings } from './job.settings';

const read = (seconds: string): number =>
  readSettings(jobSettings, { MILLRACE_IDEMPOTENCY_SECONDS: seconds }).idempotencySeconds;

it('an Idempotency-Key stays claimed for 24 hours at least, as clients may rely on (contract, 4.1)', () => {
  expect(readSettings(jobSettings, {}).idempotencySeconds).toBe(86_400);
  expect(read('86401')).toBe(86_401);
  expect(() => read('86399')).toThrow('MILLRACE_IDEMPOTENCY_SECONDS=86399 is not valid: must be at least 86400');
});
