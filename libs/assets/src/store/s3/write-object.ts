import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
  type CompletedPart,
  type S3Client,
} from '@aws-sdk/client-s3';
import { encryptionFields, type S3Encryption } from './s3-client';

/** Of a file that is sent in parts; S3 accepts 10,000 of them, none but the last below 5 MiB. */
const PART_BYTES = 8 * 1024 * 1024;
const MOST_PARTS = 10_000;

/** An object to write. */
export interface ObjectTarget {
  bucket: string;
  name: string;
  contentType: string;
  encryption?: S3Encryption | undefined;
}

/**
 * Write an object from a stream whose length nobody knows, with one part of it in memory: in one request where it is short, else in
 * parts, which appear together when the last has arrived.
 *
 * @throws what the source throws; what the SDK throws.
 */
export async function writeObject(
  client: S3Client,
  { bucket, name, contentType, encryption }: ObjectTarget,
  source: Readable,
  abortSignal: AbortSignal,
): Promise<void> {
  const target = { Bucket: bucket, Key: name };
  const kind = { ContentType: contentType, ...encryptionFields(encryption) };
  const options = { abortSignal };
  const parts = partsOf(source);
  const first = await parts.next();
  const head = first.done === true ? Buffer.alloc(0) : first.value;
  if (head.length < PART_BYTES) {
    await client.send(new PutObjectCommand({ ...target, ...kind, Body: head }), options);
    return;
  }
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ ...target, ...kind }), options);
  const upload = { ...target, UploadId };
  try {
    const Parts: CompletedPart[] = [];
    for (let part: Buffer | null = head; part !== null; part = await next(parts)) {
      const PartNumber = Parts.length + 1;
      if (PartNumber > MOST_PARTS) throw new Error(`the object has more than ${MOST_PARTS} parts`);
      const { ETag } = await client.send(new UploadPartCommand({ ...upload, PartNumber, Body: part }), options);
      Parts.push({ PartNumber, ETag });
    }
    await client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }), options);
  } catch (error) {
    // Best effort: a rule of the bucket drops what stays behind.
    await client.send(new AbortMultipartUploadCommand(upload)).catch(() => undefined);
    throw error;
  }
}

async function next(parts: AsyncGenerator<Buffer>): Promise<Buffer | null> {
  const result = await parts.next();
  return result.done === true ? null : result.value;
}

/** Cut a stream into parts of equal size; the last has the rest, and is not empty. */
async function* partsOf(source: Readable): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of source) {
    for (let rest = chunk as Buffer; rest.length > 0;) {
      const taken = rest.subarray(0, PART_BYTES - bytes);
      rest = rest.subarray(taken.length);
      chunks.push(taken);
      bytes += taken.length;
      if (bytes < PART_BYTES) continue;
      yield Buffer.concat(chunks);
      [chunks, bytes] = [[], 0];
    }
  }
  if (bytes > 0) yield Buffer.concat(chunks);
}
