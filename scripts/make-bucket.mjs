import process from 'node:process';
import {
  CreateBucketCommand,
  GetBucketCorsCommand,
  HeadBucketCommand,
  PutBucketCorsCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { Failure, readFlags, runCommand, say, sentenceOf } from './lib/command/index.mjs';

const HELP = `Makes the bucket that S3_BUCKET names, on the server that S3_ENDPOINT names, with S3_ACCESS_KEY_ID and
S3_SECRET_ACCESS_KEY. A bucket that is there already keeps what is in it. One without a CORS rule gets one, so that pages of the
console send large files to it and read texts from it.`;
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
    await allowPages(client, env.S3_BUCKET ?? '');
  } catch (error) {
    throw new Failure(`The bucket ${env.S3_BUCKET} could not be made at ${env.S3_ENDPOINT}: ${sentenceOf(error)}`);
  } finally {
    client.destroy();
  }
  say(`The bucket ${env.S3_BUCKET} is there.`);
}

/** For pages of any origin: each link is signed, and a browser sends no cookie with it. */
const CORS_RULE = {
  AllowedOrigins: ['*'],
  AllowedMethods: ['GET', 'HEAD', 'PUT'],
  AllowedHeaders: ['*'],
  MaxAgeSeconds: 3_600,
};

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

/**
 * Without a rule the console works all the same, and sends large files through the api.
 *
 * @param {S3Client} client
 * @param {string} name
 */
async function allowPages(client, name) {
  try {
    await client.send(new GetBucketCorsCommand({ Bucket: name }));
    return;
  } catch (error) {
    if (!/^NoSuchCORSConfiguration/.test(/** @type {Error} */ (error).name)) return sayWithoutRule(error);
  }
  try {
    await client.send(new PutBucketCorsCommand({ Bucket: name, CORSConfiguration: { CORSRules: [CORS_RULE] } }));
  } catch (error) {
    sayWithoutRule(error);
  }
}

/** @param {unknown} error */
function sayWithoutRule(error) {
  say(`It may have no CORS rule for pages of the console, and was given none: ${sentenceOf(error)}`);
}

await runCommand(main);
