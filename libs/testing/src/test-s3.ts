/** Where the S3 server of the test run is, and the key that may do everything on it. */
export interface TestS3 {
  endpoint: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/** The S3 server of the test run: a real one that verifies signatures. Test files make buckets of their own on it. */
export function testS3(): TestS3 {
  return {
    endpoint: required('MILLRACE_TEST_S3_ENDPOINT'),
    region: process.env.MILLRACE_TEST_S3_REGION || 'us-east-1',
    accessKeyId: required('MILLRACE_TEST_S3_ACCESS_KEY_ID'),
    secretAccessKey: required('MILLRACE_TEST_S3_SECRET_ACCESS_KEY'),
  };
}

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; run the tests with: npm test -- <pattern>`);
  return value;
}
