import type { Readable } from 'node:stream';
import { S3Client } from '@aws-sdk/client-s3';
import { GuardedClient, type AddressGuard, type ResolveHost } from '@millrace/platform';
import { SILENT_MS, reasonOf } from './bucket-faults';
import { GuardedHandler } from './guarded-handler';
import { DEFAULT_REQUEST_POLICY, createS3Client, type S3Address } from './s3-client';
import { writeObject } from './write-object';

/** Of a request; what fails for longer is tried again by who asked for it. */
const TRIES = 2;

/** A bucket that somebody else names, with credentials for it. */
export interface NamedBucket {
  bucket: string;
  region: string;
  /** Null: AWS's own of the region. */
  endpoint: string | null;
  accessKeyId: string;
  secretAccessKey: string;
}

/**
 * Writes to buckets that customers name, over guarded connections, and to the service's own. What a customer names is hostile: where
 * calls may go is decided by the address that is reached, and redirects are not followed.
 */
export class NamedBuckets {
  private readonly client: GuardedClient;
  private own: S3Client | null = null;

  /** @param ownAddress the service's bucket; null where it keeps bytes in a folder. */
  constructor(
    private readonly guard: AddressGuard,
    private readonly ownAddress: S3Address | null,
    resolve?: ResolveHost,
  ) {
    this.client = new GuardedClient(guard, SILENT_MS, resolve);
  }

  /**
   * Write one object, whole or not at all, over one of the same name.
   *
   * @param target null: the service's own bucket.
   * @returns null when it is written; else why not, in a sentence for the owner of the bucket.
   * @throws what reading `bytes` throws.
   */
  async write(
    target: NamedBucket | null,
    { name, contentType, bytes }: { name: string; contentType: string; bytes: Readable },
    signal: AbortSignal,
  ): Promise<string | null> {
    if (target === null) return this.writeOwn({ name, contentType, bytes }, signal);
    // Rules of today: the endpoint may have been accepted under others.
    const fault = target.endpoint === null ? null : this.guard.faultOf(target.endpoint);
    if (fault !== null) return `The endpoint ${fault}.`;
    const client = this.clientOf(target);
    try {
      return await written(client, { bucket: target.bucket, name, contentType }, bytes, signal);
    } finally {
      client.destroy();
    }
  }

  private async writeOwn(
    { name, contentType, bytes }: { name: string; contentType: string; bytes: Readable },
    signal: AbortSignal,
  ): Promise<string | null> {
    const { ownAddress } = this;
    if (ownAddress === null) return 'The service keeps its bytes in no bucket.';
    this.own ??= createS3Client(ownAddress, DEFAULT_REQUEST_POLICY);
    const { bucket, encryption } = ownAddress;
    return written(this.own, { bucket, name, contentType, encryption }, bytes, signal);
  }

  private clientOf({ region, endpoint, accessKeyId, secretAccessKey }: NamedBucket): S3Client {
    return new S3Client({
      region,
      credentials: { accessKeyId, secretAccessKey },
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      maxAttempts: TRIES,
      requestHandler: new GuardedHandler(this.client),
      // Said in any case: what the environment of the process names is about the service's bucket.
      endpoint: endpoint ?? awsEndpoint(region),
      forcePathStyle: endpoint !== null,
    });
  }

  /** Cut what is under way to others. */
  async close(): Promise<void> {
    this.own?.destroy();
    await this.client.close();
  }
}

async function written(
  client: S3Client,
  target: Parameters<typeof writeObject>[1],
  bytes: Readable,
  signal: AbortSignal,
): Promise<string | null> {
  let sourceError: Error | null = null;
  bytes.once('error', (error: Error) => (sourceError = error));
  try {
    await writeObject(client, target, bytes, signal);
    return null;
  } catch (error) {
    if (sourceError !== null) throw sourceError as Error;
    return reasonOf(error, signal);
  }
}

/** AWS, "Amazon Simple Storage Service endpoints": those in China have a domain of their own. */
function awsEndpoint(region: string): string {
  return `https://s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}
