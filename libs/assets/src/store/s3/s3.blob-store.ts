import type { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  type S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { BlobStoreError, type BlobStore, type ByteRange, type PresignOptions } from '../blob-store';
import type { StageOptions, StagedBytes, StagedLeftover, StoredObject } from '../blob-store';
import { DEFAULT_REQUEST_POLICY, createS3Client, s3FaultOf, type S3Address, type S3RequestPolicy } from './s3-client';
import { openUploads } from './s3-open-uploads';
import { S3NoteStore } from './s3.note-store';
import { S3PartStore } from './s3.part-store';
import { STAGING_BYTES, STAGING_PREFIX, withS3Faults, stageInBucket, type Bucket } from './s3-staging';

const BLOBS_PREFIX = 'blobs/';
/** Where exports of accounts without a bucket of their own are written. */
const EXPORTS_PREFIX = 'exports/';

/** Blobs as objects of one bucket of S3, or of any server that speaks its protocol. */
export class S3BlobStore implements BlobStore {
  readonly kind = 's3';
  readonly stagingBytes = STAGING_BYTES;
  private readonly client: S3Client;
  private readonly bucket: Bucket;
  /** Signs links; sends no requests. */
  private readonly signer: S3Client;
  readonly parts: S3PartStore;
  readonly notes: S3NoteStore;

  /** @param publicEndpoint where customers reach the server, if they reach it elsewhere than we do. */
  constructor(address: S3Address, publicEndpoint?: string, policy: S3RequestPolicy = DEFAULT_REQUEST_POLICY) {
    this.client = createS3Client(address, policy);
    const { bucket: name, encryption } = address;
    // How many answers may be open is bounded by those who send them on.
    const reader = createS3Client(address, policy, Infinity);
    this.bucket = { name, client: this.client, reader, encryption, objectOf: (key) => BLOBS_PREFIX + key };
    this.signer = createS3Client({ ...address, endpoint: publicEndpoint ?? address.endpoint }, policy);
    this.notes = new S3NoteStore(this.client, name, encryption);
    this.parts = new S3PartStore(this.bucket, this.signer);
  }

  async check(): Promise<void> {
    try {
      await this.client.send(new HeadBucketCommand({ Bucket: this.bucket.name }));
    } catch (error) {
      const { fault, message } = s3FaultOf(error);
      const reason = fault === 'missing' ? 'there is no such bucket' : message;
      throw new BlobStoreError(fault, `The bucket ${this.bucket.name} cannot be used: ${reason}`, { cause: error });
    }
  }

  stage(source: Readable, options: StageOptions): Promise<StagedBytes> {
    return stageInBucket(this.bucket, source, options);
  }

  async open(key: string, range?: ByteRange): Promise<Readable> {
    const Range = range && `bytes=${range.start}-${range.end}`;
    const { Body } = await withS3Faults(this.bucket.reader.send(new GetObjectCommand({ ...this.target(key), Range })));
    // In Node the SDK's answer is always the stream of the response.
    return Body as Readable;
  }

  async stat(key: string): Promise<{ sizeBytes: number } | null> {
    try {
      const { ContentLength } = await withS3Faults(this.client.send(new HeadObjectCommand(this.target(key))));
      return { sizeBytes: ContentLength ?? 0 };
    } catch (error) {
      if (error instanceof BlobStoreError && error.fault === 'missing') return null;
      throw error;
    }
  }

  async delete(key: string): Promise<void> {
    await this.deleteObject(this.bucket.objectOf(key));
  }

  private async deleteObject(Key: string): Promise<void> {
    await withS3Faults(this.client.send(new DeleteObjectCommand({ Bucket: this.bucket.name, Key })));
  }

  async presign(key: string, { method, contentType, disposition, expiresSeconds }: PresignOptions): Promise<string> {
    const answer = { ResponseContentType: contentType, ResponseContentDisposition: disposition };
    const input = { ...this.target(key), ...answer };
    const expiry = { expiresIn: expiresSeconds };
    return method === 'HEAD'
      ? getSignedUrl(this.signer, new HeadObjectCommand(input), expiry)
      : getSignedUrl(this.signer, new GetObjectCommand(input), expiry);
  }

  async *list(): AsyncIterable<StoredObject> {
    for await (const object of this.objects(BLOBS_PREFIX)) {
      yield { ...object, key: object.key.slice(BLOBS_PREFIX.length) };
    }
  }

  async *stagedBefore(time: Date): AsyncIterable<StagedLeftover> {
    for await (const { key, modifiedAt } of this.objects(STAGING_PREFIX)) {
      if (modifiedAt < time) yield { name: key, drop: () => this.deleteObject(key) };
    }
    // Below blobs: copies that broke off; below exports: files of them.
    for (const prefix of [STAGING_PREFIX, BLOBS_PREFIX, EXPORTS_PREFIX]) {
      for await (const upload of openUploads(this.bucket, prefix)) {
        if (upload.begunAt < time) yield upload;
      }
    }
  }

  close(): void {
    this.client.destroy();
    this.bucket.reader.destroy();
    this.signer.destroy();
  }

  private async *objects(Prefix: string): AsyncGenerator<StoredObject> {
    let ContinuationToken: string | undefined;
    do {
      const page = await withS3Faults(
        this.client.send(new ListObjectsV2Command({ Bucket: this.bucket.name, Prefix, ContinuationToken })),
      );
      for (const { Key, Size, LastModified } of page.Contents ?? []) {
        if (Key !== undefined) yield { key: Key, sizeBytes: Size ?? 0, modifiedAt: LastModified ?? new Date() };
      }
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
  }

  private target(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.bucket.name, Key: this.bucket.objectOf(key) };
  }
}
