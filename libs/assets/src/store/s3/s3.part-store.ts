import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListPartsCommand,
  UploadPartCommand,
  type CompletedPart,
  type Part,
  type S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { BlobStoreError } from '../blob-store';
import { ByteMeter } from '../byte-meter';
import { wrongSize, type PartSpec, type PartStore } from '../part-store';
import type { AssembledBytes } from '../staged-bytes';
import { encryptionFields } from './s3-client';
import { STAGING_PREFIX, assembledInObject, withS3Faults, type Bucket } from './s3-staging';

/** The most parts in one answer to a listing. */
const PARTS_PAGE = 1_000;

/** Parts as a multipart upload of S3, which clients send to the bucket itself. A handle is the object and the upload's id. */
export class S3PartStore implements PartStore {
  readonly holdsParts = true;

  /** @param signer signs links to where customers reach the bucket. */
  constructor(
    private readonly bucket: Bucket,
    private readonly signer: S3Client,
  ) {}

  async begin(): Promise<string> {
    const Key = `${STAGING_PREFIX}${randomUUID()}`;
    const target = { Bucket: this.bucket.name, Key, ...encryptionFields(this.bucket.encryption) };
    const { UploadId } = await withS3Faults(this.bucket.client.send(new CreateMultipartUploadCommand(target)));
    return `${Key} ${UploadId}`;
  }

  /** The length is signed too: a part of another size is refused by the bucket. */
  async link(handle: string, { number, sizeBytes }: PartSpec, expiresSeconds: number): Promise<string> {
    const command = new UploadPartCommand({ ...this.target(handle), PartNumber: number, ContentLength: sizeBytes });
    return getSignedUrl(this.signer, command, {
      expiresIn: expiresSeconds,
      signableHeaders: new Set(['host', 'content-length']),
      unhoistableHeaders: new Set(['content-length']),
    });
  }

  /** For clients that cannot reach the bucket. The part is held in memory, because a request that fails is sent again. */
  async write(handle: string, part: PartSpec, source: Readable): Promise<void> {
    const Body = await buffer(source);
    if (Body.length !== part.sizeBytes) throw wrongSize(part);
    await withS3Faults(
      this.bucket.client.send(new UploadPartCommand({ ...this.target(handle), PartNumber: part.number, Body })),
    );
  }

  async list(handle: string): Promise<PartSpec[]> {
    const parts = await this.partsOf(handle);
    return (parts ?? []).map(({ PartNumber = 0, Size = 0 }) => ({ number: PartNumber, sizeBytes: Size }));
  }

  async isAssembled(handle: string): Promise<boolean> {
    const { Bucket, Key } = this.target(handle);
    try {
      await withS3Faults(this.bucket.client.send(new HeadObjectCommand({ Bucket, Key })));
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  async assemble(handle: string, count: number): Promise<AssembledBytes> {
    const target = this.target(handle);
    const parts = await this.partsOf(handle);
    // No upload any more: an earlier request joined its parts and then broke off.
    if (parts !== null) {
      const Parts = parts
        .filter(({ PartNumber = 0 }) => PartNumber <= count)
        .map(({ PartNumber, ETag }): CompletedPart => ({ PartNumber, ETag }));
      await withS3Faults(
        this.bucket.client.send(new CompleteMultipartUploadCommand({ ...target, MultipartUpload: { Parts } })),
      );
    }
    const { Bucket, Key } = target;
    const { Body } = await withS3Faults(this.bucket.reader.send(new GetObjectCommand({ Bucket, Key })));
    const meter = new ByteMeter(Number.MAX_SAFE_INTEGER);
    await withS3Faults(meterAll(Body as AsyncIterable<Buffer>, meter));
    return assembledInObject(this.bucket, meter, Key);
  }

  async abort(handle: string): Promise<void> {
    const { Bucket, Key, UploadId } = this.target(handle);
    try {
      await withS3Faults(this.bucket.client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    await withS3Faults(this.bucket.client.send(new DeleteObjectCommand({ Bucket, Key })));
  }

  /** @returns null when there is no such upload any more. */
  private async partsOf(handle: string): Promise<Part[] | null> {
    const parts: Part[] = [];
    let PartNumberMarker: string | undefined;
    try {
      do {
        const page = await withS3Faults(
          this.bucket.client.send(
            new ListPartsCommand({ ...this.target(handle), PartNumberMarker, MaxParts: PARTS_PAGE }),
          ),
        );
        parts.push(...(page.Parts ?? []));
        PartNumberMarker = page.IsTruncated === true ? page.NextPartNumberMarker : undefined;
      } while (PartNumberMarker !== undefined);
      return parts;
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  private target(handle: string): { Bucket: string; Key: string; UploadId: string } {
    const [Key = '', UploadId = ''] = handle.split(' ');
    return { Bucket: this.bucket.name, Key, UploadId };
  }
}

async function meterAll(body: AsyncIterable<Buffer>, meter: ByteMeter): Promise<void> {
  for await (const chunk of body) meter.add(chunk);
}

function isMissing(error: unknown): boolean {
  return error instanceof BlobStoreError && error.fault === 'missing';
}
