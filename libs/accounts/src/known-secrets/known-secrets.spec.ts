import { createLogger } from '@millrace/platform';
import { FailedAttempts } from '../failed-attempts';
import { KnownSecrets } from './known-secrets';

it('a secret that has ended is looked up, and counted, once where it is presented many times at once', async () => {
  const failures = new FailedAttempts(3, createLogger('test', 'silent'));
  const count = jest.spyOn(failures, 'count');
  const known = new KnownSecrets(failures, { countsLookUps: true });
  const load = jest.fn(() => Promise.resolve(null));
  const wanted = { hash: 'ended', isOurs: true, network: '203.0.113.7', load };
  const found = await Promise.all(Array.from({ length: 40 }, () => known.find(wanted)));
  expect(new Set(found)).toEqual(new Set([null]));
  expect([load.mock.calls.length, count.mock.calls.length]).toEqual([1, 1]);
});
