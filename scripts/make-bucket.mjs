import process from 'node:process';
import { CreateBucketCommand, HeadBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { Failure, readFlags, runCommand, say, sentenceOf } from './lib/command/index.mjs';

const HELP = `Makes the bucket that S3_BUCKET names, on the server that S3_ENDPOINT names, with S3_ACCESS_KEY_ID and
S3_SECRET_ACCESS_KEY. A bucket that is there already is left as it is.`;
const NEEDED = ['S3_BUCKET', 'S3_ENDPOINT', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'];

async function main() {
  readFlags(HELP, {});
  const { env } = process;
  const missing = NEEDED.filter((name) => !env[name]);
  if (missing.length > 0) throw new Failure(`Not set: ${missing.join(', ')}.`);
  const client = new S3Client({
    endpoint: env.S3_ENDPOINT,
    region: env.S3_REGION || 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: env.S3_ACCESS_KEY_ID ?? '', secretAccessKey: env.S3_SECRET_ACCESS_KEY ?? '' },
  });
  try {
    await makeBucket(client, env.S3_BUCKET ?? '');
  } catch (error) {
    throw new Failure(`The bucket ${env.S3_BUCKET} could not be made at ${env.S3_ENDPOINT}: ${sentenceOf(error)}`);
  } finally {
    client.destroy();
  }
  say(`The bucket ${env.S3_BUCKET} is there.`);
}

/**
 * @param {S3Client} client
 * @param {string} name
 */
async function makeBucket(client, name) {
  try {
    await client.send(new CreateBucketCommand({ Bucket: name }));
  } catch (error) {
    // It exists, made by us or by others: check that we can reach it.
    if (!/^BucketAlready/.test(/** @type {Error} */ (error).name)) throw error;
    await client.send(new HeadBucketCommand({ Bucket: name }));
  }
}

await runCommand(main);
