import { S3Client } from '@aws-sdk/client-s3';
import { BlobStoreError, type BlobStoreFault } from '../blob-store';

/** Where a bucket is, and the credentials for it. */
export interface S3Address {
  bucket: string;
  region: string;
  /** Undefined: AWS's own endpoint of the region. */
  endpoint: string | undefined;
  /** Undefined: what the SDK finds by itself (environment, profile, role of the machine). */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined;
  /** Whether the bucket is in the path (true) or in the host name. Undefined: in the path of any endpoint that is given. */
  pathStyle?: boolean | undefined;
  /** How the server encrypts what it keeps. Undefined: as the bucket is configured. */
  encryption?: S3Encryption | undefined;
}

/** `AES256`: keys of the server. `aws:kms`: a key of KMS, the account's own where none is named. */
export interface S3Encryption {
  kind: 'AES256' | 'aws:kms';
  kmsKeyId: string | undefined;
}

/** The encryption fields of every request that creates an object. */
export function encryptionFields(encryption: S3Encryption | undefined): {
  ServerSideEncryption?: S3Encryption['kind'];
  SSEKMSKeyId?: string;
} {
  if (encryption === undefined) return {};
  const { kind, kmsKeyId } = encryption;
  return { ServerSideEncryption: kind, ...(kmsKeyId === undefined ? {} : { SSEKMSKeyId: kmsKeyId }) };
}

/** Timeouts of requests, and how often one is tried. */
export interface S3RequestPolicy {
  /** Tries of one request, the first included; the SDK waits between them with jitter. */
  maxAttempts: number;
  connectTimeoutMs: number;
  /** Until the answer begins. */
  requestTimeoutMs: number;
  /** A transfer without progress for this long fails. */
  idleTimeoutMs: number;
}

export const DEFAULT_REQUEST_POLICY: S3RequestPolicy = {
  maxAttempts: 4,
  connectTimeoutMs: 3_000,
  requestTimeoutMs: 60_000,
  idleTimeoutMs: 120_000,
};

/** Of a client whose answers are read at once. A request that gets none within the connect timeout fails. */
const SOCKETS = 50;

/**
 * A client for AWS or for any server of its protocol. Most others have the bucket in the path, and support only the checksums
 * that the protocol requires. Transient failures are tried again, after a wait with full jitter.
 *
 * @param maxSockets `Infinity` for a client whose answers are read as slowly as somebody else takes them.
 */
export function createS3Client(address: S3Address, policy: S3RequestPolicy, maxSockets = SOCKETS): S3Client {
  return new S3Client({
    region: address.region,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: policy.maxAttempts,
    requestHandler: {
      connectionTimeout: policy.connectTimeoutMs,
      requestTimeout: policy.requestTimeoutMs,
      throwOnRequestTimeout: true,
      socketTimeout: policy.idleTimeoutMs,
      httpAgent: { maxSockets },
      httpsAgent: { maxSockets },
    },
    ...(address.endpoint === undefined ? {} : { endpoint: address.endpoint }),
    forcePathStyle: address.pathStyle ?? address.endpoint !== undefined,
    ...(address.credentials === undefined ? {} : { credentials: address.credentials }),
  });
}

const MISSING = new Set(['NoSuchKey', 'NotFound', 'NoSuchUpload']);
const FULL = new Set(['InsufficientStorage', 'XMinioStorageFull', 'QuotaExceeded']);

/** An error of the SDK as BlobStoreError. */
export function s3FaultOf(error: unknown): BlobStoreError {
  if (error instanceof BlobStoreError) return error;
  const name = error instanceof Error ? error.name : 'unknown';
  const fault = faultOf(name, statusOf(error));
  return new BlobStoreError(fault, `The bucket failed (${fault}, ${name}).`, { cause: error });
}

function faultOf(name: string, status: number | undefined): BlobStoreFault {
  if (MISSING.has(name)) return 'missing';
  if (name === 'EntityTooLarge') return 'too_large';
  if (FULL.has(name) || status === 507) return 'full';
  if (name === 'NoSuchBucket' || status === 401 || status === 403) return 'denied';
  // No status: no answer came. 429 and 5xx: try again later.
  if (status === undefined || status === 429 || status >= 500) return 'unreachable';
  return 'failed';
}

function statusOf(error: unknown): number | undefined {
  const metadata = (error as { $metadata?: { httpStatusCode?: number } } | null)?.$metadata;
  return metadata?.httpStatusCode;
}
