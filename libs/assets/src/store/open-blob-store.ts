import { BootError, SettingsError, type AddressGuard, type ResolveHost } from '@millrace/platform';
import type { AssetSettings } from '../assets.settings';
import { BlobStoreError, type BlobStore } from './blob-store';
import { FsBlobStore } from './fs/fs.blob-store';
import { ArchiveBucket } from './s3/archive-bucket';
import { NamedBuckets } from './s3/named-buckets';
import type { S3Address, S3Encryption } from './s3/s3-client';
import { S3BlobStore } from './s3/s3.blob-store';

/**
 * The store that the settings name, checked once: a wrong bucket is found at boot, not at the first upload. A store that does
 * not answer is accepted: it may come back, and jobs can be polled without it.
 *
 * @throws SettingsError when they name none, or two, or half a credential; BootError when the store cannot be used.
 */
export async function openBlobStore(settings: AssetSettings): Promise<BlobStore> {
  const store = blobStoreOf(settings);
  try {
    await store.check();
    return store;
  } catch (error) {
    if (error instanceof BlobStoreError && error.fault === 'unreachable') return store;
    store.close();
    throw error instanceof BlobStoreError ? new BootError(error.message) : error;
  }
}

/** The store that the settings name, without a request to it. @throws SettingsError. */
export function blobStoreOf(settings: AssetSettings): BlobStore {
  const { blobDir, s3Bucket: bucket } = settings;
  if ((blobDir === undefined) === (bucket === undefined)) {
    const fault =
      blobDir === undefined
        ? 'Neither MILLRACE_BLOB_DIR nor S3_BUCKET is set'
        : 'Both MILLRACE_BLOB_DIR and S3_BUCKET are set';
    throw new SettingsError([`${fault}; set exactly one of them.`]);
  }
  assertCredentials(settings);
  if (blobDir !== undefined) return new FsBlobStore(blobDir);
  return new S3BlobStore(addressOf(settings, bucket ?? ''), settings.s3PublicEndpoint);
}

/**
 * What writes to buckets that customers name, and to the service's own where it has one. Opens nothing by itself.
 *
 * @param guard where such buckets may be. @param resolve how hosts are looked up, where a test decides that.
 */
export function composeNamedBuckets(
  settings: AssetSettings,
  guard: AddressGuard,
  resolve?: ResolveHost,
): { writer: NamedBuckets; ownBucket: string | null } {
  const ownBucket = settings.s3Bucket ?? null;
  const own = ownBucket === null ? null : addressOf(settings, ownBucket);
  return { writer: new NamedBuckets(guard, own, resolve), ownBucket };
}

/**
 * A bucket of the service in which objects are kept and not replaced, on the server of its store and with the same credentials. Opens
 * nothing by itself.
 *
 * @param lockDays for how long nobody can delete an object; 0: they are not locked.
 * @throws SettingsError when they are half a credential.
 */
export function composeArchiveBucket(settings: AssetSettings, bucket: string, lockDays: number): ArchiveBucket {
  assertCredentials(settings);
  return new ArchiveBucket(addressOf(settings, bucket), lockDays);
}

function assertCredentials({ s3AccessKeyId, s3SecretAccessKey }: AssetSettings): void {
  if ((s3AccessKeyId === undefined) === (s3SecretAccessKey === undefined)) return;
  throw new SettingsError(['One of S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY is not set; set both or neither.']);
}

function addressOf(settings: AssetSettings, bucket: string): S3Address {
  const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = settings;
  const credentials =
    accessKeyId === undefined || secretAccessKey === undefined ? undefined : { accessKeyId, secretAccessKey };
  return {
    bucket,
    region: settings.s3Region,
    endpoint: settings.s3Endpoint,
    credentials,
    pathStyle: settings.s3PathStyle === undefined ? undefined : settings.s3PathStyle === 'true',
    encryption: encryptionOf(settings),
  };
}

function encryptionOf({ s3Encryption: kind, s3KmsKeyId: kmsKeyId }: AssetSettings): S3Encryption | undefined {
  if (kmsKeyId !== undefined && kind !== 'aws:kms') {
    throw new SettingsError(['S3_KMS_KEY_ID is set without S3_SERVER_SIDE_ENCRYPTION=aws:kms; set both or neither.']);
  }
  return kind === undefined ? undefined : { kind, kmsKeyId };
}
