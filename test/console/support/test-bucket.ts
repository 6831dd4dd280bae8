import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { testS3 } from '@millrace/testing';

const ROOT = join(__dirname, '../../..');

/** A bucket of one test file, which is made without a rule for pages of other origins. */
export class TestBucket {
  /** Of every process of a stack that keeps its bytes there. */
  readonly settings: Record<string, string>;
  readonly origin: string;

  /** Called at the top of a test file. */
  constructor() {
    const { endpoint, region, accessKeyId, secretAccessKey } = testS3();
    this.origin = new URL(endpoint).origin;
    const bucket = `console-${randomUUID()}`;
    this.settings = {
      MILLRACE_BLOB_DIR: '',
      S3_BUCKET: bucket,
      S3_REGION: region,
      S3_ENDPOINT: endpoint,
      S3_ACCESS_KEY_ID: accessKeyId,
      S3_SECRET_ACCESS_KEY: secretAccessKey,
    };
    beforeAll(async () => {
      const credentials = { accessKeyId, secretAccessKey };
      const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
      await client.send(new CreateBucketCommand({ Bucket: bucket }));
      client.destroy();
    });
  }

  /** Have it set up as operators do: with the rule. */
  async allowPages(): Promise<void> {
    const env = { ...process.env, ...this.settings };
    await promisify(execFile)(process.execPath, ['scripts/make-bucket.mjs'], { cwd: ROOT, env });
  }
}
