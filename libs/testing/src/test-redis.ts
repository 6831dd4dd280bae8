import { randomInt } from 'node:crypto';

/** Databases of the Redis that a test run starts (`databases` of its configuration). */
const DATABASES = 1_024;
/** Each test file loads this module again, so each has a database of its own. 0 is left to people who look in by hand. */
const database = randomInt(1, DATABASES);

/**
 * URL of the Redis of the test run, with a database for this test file alone: limits count by address, and all test files
 * call from the same one. Channels are the same in all databases, and carry ids.
 */
export function testRedisUrl(): string {
  const url = process.env.MILLRACE_TEST_REDIS_URL;
  if (!url) throw new Error('MILLRACE_TEST_REDIS_URL is not set; run the tests with: npm test -- <pattern>');
  const own = new URL(url);
  own.pathname = `/${database}`;
  return own.href;
}
