import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
  type CompletedPart,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { StageOptions, StagedBytes } from '../blob-store';
import { ByteMeter } from '../byte-meter';
import { PartBuffer } from './part-buffer';
import { encryptionFields, s3FaultOf, type S3Encryption } from './s3-client';
import type { AssembledBytes } from '../staged-bytes';
import { takeSource } from '../staging-source';

/** The prefix of staged objects; no placed object has it. */
export const STAGING_PREFIX = 'staging/';
/** The smallest part that S3 accepts. One part is sent while the next one fills, so the memory of an upload is bounded. */
const PART_BYTES = 5 * 1024 * 1024;
export const STAGING_BYTES = 2 * PART_BYTES;
/** The most of an upload that is not in parts, as S3 has it for an object that is not. */
const MAX_STAGED_BYTES = 5 * 1024 ** 3;
/**
 * Copied in one request: S3 takes 5 GiB, but answers only when all is copied, and a server that copies 10 MB a second must do so within
 * the time to wait for an answer.
 */
const COPY_STEP_BYTES = 256 * 1024 * 1024;
const COPIES_AT_A_TIME = 3;

/** One bucket: the client for it, and where objects lie in it. */
export interface Bucket {
  readonly name: string;
  readonly client: S3Client;
  /** For bodies that are read as fast as somebody takes them: these hold their sockets, and those of `client` stay free. */
  readonly reader: S3Client;
  readonly encryption: S3Encryption | undefined;
  /** Name of the object that holds what was placed under `key`. */
  objectOf(key: string): string;
}

/**
 * Take in a stream. What fits one part stays in memory until it is put under its key. More goes into a multipart upload of a
 * staging object, which the server copies later: the key contains the hash, which is known only after the last byte.
 */
export async function stageInBucket(bucket: Bucket, source: Readable, options: StageOptions): Promise<StagedBytes> {
  const meter = new ByteMeter(Math.min(options.maxBytes, MAX_STAGED_BYTES));
  const upload = new StagingUpload(bucket);
  // Two take turns: one fills while the other is sent.
  let part = new PartBuffer(PART_BYTES);
  let sent = new PartBuffer(PART_BYTES);
  try {
    for await (const chunk of takeSource(source, options.signal)) {
      meter.add(chunk);
      const covered = options.cover?.(meter.sizeBytes) ?? null;
      if (covered !== null) await covered;
      for (let rest = chunk; rest.length > 0;) {
        if (part.isFull) {
          await upload.add(part.bytes);
          [part, sent] = [sent, part];
          part.empty();
        }
        // Parts are cut to equal sizes: some servers accept no others.
        rest = part.take(rest);
      }
    }
    const last = part.bytes;
    // A copy, so that a small upload does not hold the memory of a large one until it is committed.
    if (!upload.begun) return stagedInMemory(bucket, meter, Buffer.from(last));
    await upload.finish(last);
    return stagedInObject(bucket, meter, upload.object);
  } catch (error) {
    source.destroy();
    await upload.abort();
    throw error;
  }
}

function stagedInMemory(bucket: Bucket, meter: ByteMeter, bytes: Buffer): StagedBytes {
  return {
    ...meter.finish(),
    place: async (key) => {
      const target = { Bucket: bucket.name, Key: bucket.objectOf(key) };
      await withS3Faults(
        bucket.client.send(new PutObjectCommand({ ...target, ...encryptionFields(bucket.encryption), Body: bytes })),
      );
    },
    discard: async () => undefined,
  };
}

/** Bytes that lie whole in an object of the staging area, and are gone once they are placed. */
function stagedInObject(bucket: Bucket, meter: ByteMeter, object: string): StagedBytes {
  const bytes = assembledInObject(bucket, meter, object);
  return {
    ...bytes,
    place: async (key) => {
      await bytes.place(key);
      // The bytes are placed; the sweep of staging finds a copy that stays behind.
      await bytes.discard().catch(() => undefined);
    },
  };
}

/** Bytes that lie whole in an object of the staging area, and stay there until they are discarded. */
export function assembledInObject(bucket: Bucket, meter: ByteMeter, object: string): AssembledBytes {
  const digest = meter.finish();
  const { sizeBytes } = digest;
  return {
    ...digest,
    place: async (key) => {
      await copyObject(bucket, { source: object, target: bucket.objectOf(key), sizeBytes });
    },
    release: async () => undefined,
    discard: async () => {
      await withS3Faults(bucket.client.send(new DeleteObjectCommand({ Bucket: bucket.name, Key: object })));
    },
  };
}

/**
 * Copy an object inside a bucket, atomically: in one request, or in parts, a few at a time, where it is larger than `stepBytes`. Parts of a
 * copy that broke off are dropped by the sweep of staging.
 *
 * @param target name of the new object.
 * @throws BlobStoreError.
 */
export async function copyObject(
  bucket: Bucket,
  { source, target, sizeBytes }: { source: string; target: string; sizeBytes: number },
  stepBytes = COPY_STEP_BYTES,
): Promise<void> {
  const to = { Bucket: bucket.name, Key: target };
  const CopySource = `${bucket.name}/${source}`;
  const encrypted = encryptionFields(bucket.encryption);
  if (sizeBytes <= stepBytes) {
    await withS3Faults(bucket.client.send(new CopyObjectCommand({ ...to, ...encrypted, CopySource })));
    return;
  }
  const { UploadId } = await withS3Faults(
    bucket.client.send(new CreateMultipartUploadCommand({ ...to, ...encrypted })),
  );
  const upload = { ...to, UploadId };
  try {
    const Parts: CompletedPart[] = [];
    const ranges = rangesOf(sizeBytes, stepBytes);
    const copy = async (): Promise<void> => {
      // One that fails ends the ranges: the others finish what they copy, and begin no more.
      for (const { PartNumber, CopySourceRange } of ranges) {
        const part = new UploadPartCopyCommand({ ...upload, PartNumber, CopySource, CopySourceRange });
        const { CopyPartResult } = await withS3Faults(bucket.client.send(part));
        Parts[PartNumber - 1] = { PartNumber, ETag: CopyPartResult?.ETag };
      }
    };
    const copies = await Promise.allSettled(Array.from({ length: COPIES_AT_A_TIME }, copy));
    for (const one of copies) if (one.status === 'rejected') throw one.reason;
    const complete = new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } });
    await withS3Faults(bucket.client.send(complete));
  } catch (error) {
    // Where this fails, the sweep of staging drops the parts.
    await bucket.client.send(new AbortMultipartUploadCommand(upload)).catch(() => undefined);
    throw error;
  }
}

/** The parts in which an object is copied, by number, and of which bytes each is. */
function* rangesOf(sizeBytes: number, stepBytes: number): Generator<{ PartNumber: number; CopySourceRange: string }> {
  for (let start = 0, PartNumber = 1; start < sizeBytes; start += stepBytes, PartNumber += 1) {
    yield { PartNumber, CopySourceRange: `bytes=${start}-${Math.min(start + stepBytes, sizeBytes) - 1}` };
  }
}

/** A multipart upload that begins with its first part, and sends one part at a time. */
class StagingUpload {
  readonly object = `${STAGING_PREFIX}${randomUUID()}`;
  private id: string | undefined;
  private readonly parts: CompletedPart[] = [];
  private sending: Promise<void> = Promise.resolve();

  constructor(private readonly bucket: Bucket) {}

  get begun(): boolean {
    return this.id !== undefined;
  }

  /** Send a part in the background, once the one before has arrived. Its buffer is free when the next call returns. */
  async add(bytes: Buffer): Promise<void> {
    const target = { Bucket: this.bucket.name, Key: this.object };
    if (this.id === undefined) {
      const created = await withS3Faults(
        this.bucket.client.send(
          new CreateMultipartUploadCommand({ ...target, ...encryptionFields(this.bucket.encryption) }),
        ),
      );
      this.id = created.UploadId;
    }
    await this.sending;
    this.sending = this.send(bytes);
    // Awaited by the next step; until then a failure must not count as unobserved.
    this.sending.catch(() => undefined);
  }

  private async send(bytes: Buffer): Promise<void> {
    const PartNumber = this.parts.length + 1;
    const target = { Bucket: this.bucket.name, Key: this.object, UploadId: this.id };
    const sent = await withS3Faults(
      this.bucket.client.send(new UploadPartCommand({ ...target, PartNumber, Body: bytes })),
    );
    this.parts.push({ PartNumber, ETag: sent.ETag });
  }

  async finish(last: Buffer): Promise<void> {
    if (last.length > 0) await this.add(last);
    await this.sending;
    const target = { Bucket: this.bucket.name, Key: this.object, UploadId: this.id };
    const MultipartUpload = { Parts: this.parts };
    await withS3Faults(this.bucket.client.send(new CompleteMultipartUploadCommand({ ...target, MultipartUpload })));
  }

  /** Best effort: the sweep of staging finds what it leaves behind. */
  async abort(): Promise<void> {
    if (this.id === undefined) return;
    await this.sending.catch(() => undefined);
    const target = { Bucket: this.bucket.name, Key: this.object, UploadId: this.id };
    await this.bucket.client.send(new AbortMultipartUploadCommand(target)).catch(() => undefined);
  }
}

/** Wait for an answer of the server; errors of the SDK are thrown as BlobStoreError. */
export async function withS3Faults<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw s3FaultOf(error);
  }
}
