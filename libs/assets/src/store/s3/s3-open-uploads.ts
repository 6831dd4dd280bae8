import { AbortMultipartUploadCommand, ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import { BlobStoreError, type StagedLeftover } from '../blob-store';
import { withS3Faults, type Bucket } from './s3-staging';

/** A multipart upload that was neither completed nor aborted. */
export interface OpenUpload extends StagedLeftover {
  begunAt: Date;
}

/** Every open multipart upload of a bucket, page by page. */
export async function* openUploads(
  { client, name: Bucket }: Pick<Bucket, 'client' | 'name'>,
  Prefix: string,
): AsyncGenerator<OpenUpload> {
  let marker: { KeyMarker: string | undefined; UploadIdMarker: string | undefined } | undefined;
  do {
    const page = await withS3Faults(client.send(new ListMultipartUploadsCommand({ Bucket, Prefix, ...marker })));
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (Key === undefined || UploadId === undefined || Initiated === undefined) continue;
      const abort = new AbortMultipartUploadCommand({ Bucket, Key, UploadId });
      const drop = (): Promise<void> => unlessGone(withS3Faults(client.send(abort)));
      yield { name: `${Key} ${UploadId}`, begunAt: Initiated, drop };
    }
    const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
    marker = page.IsTruncated === true ? { KeyMarker, UploadIdMarker } : undefined;
  } while (marker !== undefined);
}

async function unlessGone(abort: Promise<unknown>): Promise<void> {
  try {
    await abort;
  } catch (error) {
    if (!(error instanceof BlobStoreError) || error.fault !== 'missing') throw error;
  }
}
