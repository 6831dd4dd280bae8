/** URL of the Redis of the test run. Keys and channels carry ids, so test files share it. */
export function testRedisUrl(): string {
  const url = process.env.MILLRACE_TEST_REDIS_URL;
  if (!url) throw new Error('MILLRACE_TEST_REDIS_URL is not set; run the tests with: npm test -- <pattern>');
  return url;
}
