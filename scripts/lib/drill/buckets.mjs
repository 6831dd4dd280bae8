import { createReadStream, createWriteStream, statSync } from 'node:fs';
import process from 'node:process';
import { pipeline } from 'node:stream/promises';
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';

/** Copies under way at once. */
const COPIES = 8;

/** Buckets of one S3 server. */
export class Buckets {
  /** @param {{ endpoint: string, accessKeyId: string, secretAccessKey: string }} server */
  constructor({ endpoint, ...credentials }) {
    // Its warning about versions of Node.js to come would stand in the middle of what the command says.
    process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
    this.client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials });
  }

  close() {
    this.client.destroy();
  }

  /** @param {string} bucket */
  async make(bucket) {
    await this.client.send(new CreateBucketCommand({ Bucket: bucket }));
  }

  /** @param {string} bucket with all that is in it */
  async remove(bucket) {
    await this.empty(bucket);
    await this.client.send(new DeleteBucketCommand({ Bucket: bucket }));
  }

  /**
   * @param {string} bucket
   * @param {string} key
   * @param {string} file
   */
  async putFile(bucket, key, file) {
    const body = { Body: createReadStream(file), ContentLength: statSync(file).size };
    await this.client.send(new PutObjectCommand({ Bucket: bucket, Key: key, ...body }));
  }

  /**
   * @param {string} bucket
   * @param {string} key
   * @param {string} text
   */
  async putText(bucket, key, text) {
    await this.client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: text }));
  }

  /**
   * @param {string} bucket
   * @param {string} key
   * @param {string} file
   */
  async getFile(bucket, key, file) {
    const { Body } = await this.client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
    await pipeline(/** @type {NodeJS.ReadableStream} */ (Body), createWriteStream(file));
  }

  /**
   * @param {string} bucket
   * @param {string} key
   * @returns {Promise<string>}
   */
  async getText(bucket, key) {
    const { Body } = await this.client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
    return (await Body?.transformToString()) ?? '';
  }

  /**
   * @param {string} bucket
   * @param {string} [prefix]
   * @returns {Promise<string[]>} all keys
   */
  async keys(bucket, prefix) {
    const found = [];
    /** @type {string | undefined} */
    let token;
    do {
      const request = { Bucket: bucket, Prefix: prefix, ContinuationToken: token };
      const page = await this.client.send(new ListObjectsV2Command(request));
      for (const { Key } of page.Contents ?? []) if (Key !== undefined) found.push(Key);
      token = page.NextContinuationToken;
    } while (token !== undefined);
    return found;
  }

  /**
   * Copy the objects below a prefix that the other bucket lacks. What a key names never changes: it is a hash, or an id.
   *
   * @param {string} from
   * @param {string} to
   * @param {string} prefix
   * @returns {Promise<number>} how many
   */
  async copyMissing(from, to, prefix) {
    const there = new Set(await this.keys(to, prefix));
    const missing = (await this.keys(from, prefix)).filter((key) => !there.has(key));
    const copyNext = async () => {
      for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) await this.#copy(from, to, key);
    };
    const waiting = [...missing];
    await Promise.all(Array.from({ length: COPIES }, copyNext));
    return missing.length;
  }

  /**
   * @param {string} from
   * @param {string} to
   * @param {string} key
   */
  async #copy(from, to, key) {
    const source = `${from}/${key.split('/').map(encodeURIComponent).join('/')}`;
    try {
      await this.client.send(new CopyObjectCommand({ Bucket: to, Key: key, CopySource: source }));
    } catch (error) {
      // Deleted since it was listed: nothing refers to it.
      if (!/^(NoSuchKey|NotFound)$/.test(/** @type {Error} */ (error).name)) throw error;
    }
  }

  /** @param {string} bucket */
  async empty(bucket) {
    for (let keys = await this.keys(bucket); keys.length > 0; keys = keys.slice(1_000)) {
      const Objects = keys.slice(0, 1_000).map((Key) => ({ Key }));
      await this.client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }));
    }
  }
}
