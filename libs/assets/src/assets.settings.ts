import { z } from 'zod';
import { integer, setting, sharedSetting, type SettingsOf } from '@millrace/platform';

/** Orphaned bytes live at least this long in production: clients rely on it between asking for a hash and minting from it. */
const MIN_BLOB_GRACE_SECONDS = 3_600;

const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' });

export const assetSettings = {
  maxUploadBytes: setting(
    'MAX_UPLOAD_BYTES',
    'Largest file that can be uploaded, in bytes.',
    integer({ min: 1 }).default(104_857_600),
  ),
  signedUrlSeconds: setting(
    'SIGNED_URL_SECONDS',
    'How long a download link works, in seconds.',
    integer({ min: 10, max: 604_800 }).default(900),
  ),
  assetRetentionSeconds: setting(
    'ASSET_RETENTION_SECONDS',
    'How long an upload that names no time of its own is kept, in seconds. Unset: until it is deleted.',
    integer({ min: 60 }).optional(),
  ),
  blobGraceSeconds: setting(
    'BLOB_GRACE_SECONDS',
    'How long bytes that no asset refers to are kept, in seconds.',
    integer({ min: MIN_BLOB_GRACE_SECONDS }).default(MIN_BLOB_GRACE_SECONDS),
  ),
  blobDir: setting(
    'BLOB_DIR',
    'Folder that holds the bytes of assets. Set this or S3_BUCKET, not both; every process must see the same folder.',
    z.string().optional(),
  ),
  s3Bucket: sharedSetting(
    'S3_BUCKET',
    'Bucket that holds the bytes of assets. Set this or MILLRACE_BLOB_DIR, not both.',
    z.string().optional(),
  ),
  s3Region: sharedSetting('S3_REGION', 'Region of the bucket.', z.string().default('us-east-1')),
  s3Endpoint: sharedSetting(
    'S3_ENDPOINT',
    "URL of an S3 server other than AWS's; buckets are then addressed by path.",
    httpUrl.optional(),
  ),
  s3PublicEndpoint: sharedSetting(
    'S3_PUBLIC_ENDPOINT',
    'URL under which customers reach the S3 server. Unset: the same as S3_ENDPOINT.',
    httpUrl.optional(),
  ),
  s3AccessKeyId: sharedSetting(
    'S3_ACCESS_KEY_ID',
    "Access key of the bucket. Unset: the AWS SDK's own chain (environment, profile, role of the machine).",
    z.string().optional(),
  ),
  s3SecretAccessKey: sharedSetting('S3_SECRET_ACCESS_KEY', 'Secret of S3_ACCESS_KEY_ID.', z.string().optional(), true),
};
export type AssetSettings = SettingsOf<typeof assetSettings>;
