import { createHash } from 'node:crypto';
import {
  GetObjectCommand,
  GetObjectLockConfigurationCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { reasonOf } from './bucket-faults';
import {
  DEFAULT_REQUEST_POLICY,
  createS3Client,
  encryptionFields,
  s3FaultOf,
  type S3Address,
  type S3RequestPolicy,
} from './s3-client';

const DAY_MS = 86_400_000;
/** What a server answers that has no Object Lock, or a bucket without it: AWS and most others; Ceph; servers that lack the request. */
const UNLOCKABLE = new Set([
  'ObjectLockConfigurationNotFoundError',
  'InvalidRequest',
  'NotImplemented',
  'MethodNotAllowed',
]);

/**
 * A bucket in which objects are kept, and not replaced: with Object Lock nobody can delete one before its time, not even who has all
 * rights (Amazon S3 User Guide, "Locking objects with Object Lock", compliance mode). What it throws is an Error with a sentence for the
 * operator.
 */
export class ArchiveBucket {
  private readonly client: S3Client;
  private isLockable = false;

  /** @param lockDays 0: objects are not locked. */
  constructor(
    private readonly address: S3Address,
    private readonly lockDays: number,
    policy: S3RequestPolicy = DEFAULT_REQUEST_POLICY,
  ) {
    this.client = createS3Client(address, policy);
  }

  /** Write one object, whole or not at all, and lock it. A bucket that cannot lock gets none. */
  async write({ name, contentType, bytes }: { name: string; contentType: string; bytes: Buffer }): Promise<void> {
    await this.assertLockable();
    const { bucket: Bucket, encryption } = this.address;
    const object = { Bucket, Key: name, ContentType: contentType, Body: bytes, ...encryptionFields(encryption) };
    // S3 requires a checksum of what is locked, and every server knows this one.
    const ContentMD5 = createHash('md5').update(bytes).digest('base64');
    await this.asked(this.client.send(new PutObjectCommand({ ...object, ContentMD5, ...this.lock() })));
  }

  private lock(): { ObjectLockMode?: 'COMPLIANCE'; ObjectLockRetainUntilDate?: Date } {
    if (this.lockDays === 0) return {};
    return {
      ObjectLockMode: 'COMPLIANCE',
      ObjectLockRetainUntilDate: new Date(Date.now() + this.lockDays * DAY_MS),
    };
  }

  /** Some servers take the fields of a lock and do nothing: the bucket is asked before. */
  private async assertLockable(): Promise<void> {
    if (this.lockDays === 0 || this.isLockable) return;
    try {
      const { ObjectLockConfiguration } = await this.client.send(
        new GetObjectLockConfigurationCommand({ Bucket: this.address.bucket }),
      );
      this.isLockable = ObjectLockConfiguration?.ObjectLockEnabled === 'Enabled';
    } catch (error) {
      const { name } = error as { name?: string };
      if (name === 'AccessDenied') {
        throw this.sentence(
          'The credentials do not allow to ask whether it has Object Lock (s3:GetBucketObjectLockConfiguration).',
          error,
        );
      }
      if (name === undefined || !UNLOCKABLE.has(name)) throw this.sentence(reasonOf(error), error);
    }
    if (!this.isLockable) throw this.sentence('It has no Object Lock, so nothing is written. Name one that has.');
  }

  /** An object as it is now; null where there is none of this name. */
  async read(name: string): Promise<Buffer | null> {
    try {
      const { Body } = await this.client.send(new GetObjectCommand({ Bucket: this.address.bucket, Key: name }));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    } catch (error) {
      if (s3FaultOf(error).fault === 'missing') return null;
      throw this.sentence(reasonOf(error), error);
    }
  }

  /** Names that begin so, `limit` at most, in their order. */
  async list(prefix: string, limit: number): Promise<string[]> {
    const page = { Bucket: this.address.bucket, Prefix: prefix, MaxKeys: limit };
    const { Contents = [] } = await this.asked(this.client.send(new ListObjectsV2Command(page)));
    return Contents.flatMap(({ Key }) => (Key === undefined ? [] : [Key]));
  }

  private async asked<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      throw this.sentence(reasonOf(error), error);
    }
  }

  private sentence(reason: string, cause?: unknown): Error {
    return new Error(`The bucket ${this.address.bucket}: ${reason}`, { cause });
  }

  close(): void {
    this.client.destroy();
  }
}
