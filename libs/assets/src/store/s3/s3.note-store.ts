import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { BlobStoreError } from '../blob-store';
import type { NoteStore, StoredNote } from '../note-store';
import { encryptionFields, type S3Encryption } from './s3-client';
import { withS3Faults } from './s3-staging';

const NOTES_PREFIX = 'notes/';

/** Notes as objects of the bucket of blobs. */
export class S3NoteStore implements NoteStore {
  constructor(
    private readonly client: S3Client,
    private readonly bucket: string,
    private readonly encryption: S3Encryption | undefined,
  ) {}

  async put(name: string, text: string): Promise<void> {
    const kind = { ContentType: 'application/json', ...encryptionFields(this.encryption) };
    await withS3Faults(this.client.send(new PutObjectCommand({ ...this.target(name), ...kind, Body: text })));
  }

  async get(name: string): Promise<string | null> {
    try {
      const { Body } = await withS3Faults(this.client.send(new GetObjectCommand(this.target(name))));
      return (await Body?.transformToString('utf8')) ?? '';
    } catch (error) {
      if (error instanceof BlobStoreError && error.fault === 'missing') return null;
      throw error;
    }
  }

  async *list(folder: string): AsyncIterable<StoredNote> {
    let ContinuationToken: string | undefined;
    do {
      const asked = { Bucket: this.bucket, Prefix: NOTES_PREFIX + folder, ContinuationToken };
      const page = await withS3Faults(this.client.send(new ListObjectsV2Command(asked)));
      for (const { Key = '', LastModified } of page.Contents ?? []) {
        yield { name: Key.slice(NOTES_PREFIX.length), modifiedAt: LastModified ?? new Date() };
      }
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
  }

  async delete(name: string): Promise<void> {
    await withS3Faults(this.client.send(new DeleteObjectCommand(this.target(name))));
  }

  private target(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.bucket, Key: NOTES_PREFIX + name };
  }
}
