import { z } from 'zod';
import { integer, setting, sharedSetting, type SettingsOf } from '@millrace/platform';

/** The least in production: clients rely on it between asking for a hash and minting an asset from it. */
const MIN_BLOB_GRACE_SECONDS = 3_600;

const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' });

/** No upload has larger parts, whenever it was begun. */
export const LARGEST_PART_BYTES = 1_073_741_824;

export const assetSettings = {
  maxUploadBytes: setting(
    'MAX_UPLOAD_BYTES',
    'Largest file that can be uploaded, in bytes.',
    integer({ min: 1 }).default(104_857_600),
  ),
  maxResumableUploadBytes: setting(
    'MAX_RESUMABLE_UPLOAD_BYTES',
    'Largest file that can be uploaded in parts, models included, in bytes; at most 50 GiB.',
    integer({ min: 1, max: 50 * 1024 ** 3 }).default(5 * 1024 ** 3),
  ),
  uploadPartBytes: setting(
    'UPLOAD_PART_BYTES',
    'Size of the parts of a file that is uploaded in parts, in bytes; at least 5 MiB, which S3 demands.',
    integer({ min: 5_242_880, max: LARGEST_PART_BYTES }).default(33_554_432),
  ),
  uploadBytesInMemory: setting(
    'UPLOAD_BYTES_IN_MEMORY',
    'Memory that the uploads under way take on one API process, in bytes, where the store is a bucket: up to 10 MiB each, counted as they arrive. One account may have a third of it, and all demo callers together; further uploads of an account begin only while as much stays free as it has. Above it 429.',
    integer({ min: 10_485_760 }).default(134_217_728),
  ),
  signedUrlSeconds: setting(
    'SIGNED_URL_SECONDS',
    'How long a download link works, in seconds.',
    integer({ min: 10, max: 604_800 }).default(900),
  ),
  assetRetentionSeconds: setting(
    'ASSET_RETENTION_SECONDS',
    'How long an upload without `expires_in` is kept, in seconds. Unset: until it is deleted.',
    integer({ min: 60 }).optional(),
  ),
  storageBytesPerAccount: setting(
    'STORAGE_BYTES_PER_ACCOUNT',
    'Bytes that an account may store, where it has no limit of its own: uploads, also unfinished ones, and outputs of jobs. A full account can neither upload nor submit jobs.',
    integer({ min: 1 }).default(107_374_182_400),
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
  s3Endpoint: sharedSetting('S3_ENDPOINT', "URL of an S3 server other than AWS's.", httpUrl.optional()),
  s3PublicEndpoint: sharedSetting(
    'S3_PUBLIC_ENDPOINT',
    'URL under which customers reach the S3 server. Unset: the same as S3_ENDPOINT.',
    httpUrl.optional(),
  ),
  s3PathStyle: sharedSetting(
    'S3_PATH_STYLE',
    'true: the bucket is in the path of URLs; false: in the host name. Unset: in the path if S3_ENDPOINT is set.',
    z.enum(['true', 'false'], 'must be true or false').optional(),
  ),
  s3Encryption: sharedSetting(
    'S3_SERVER_SIDE_ENCRYPTION',
    'How the server encrypts what it keeps: AES256 or aws:kms. Unset: as the bucket is configured.',
    z.enum(['AES256', 'aws:kms'], 'must be AES256 or aws:kms').optional(),
  ),
  s3KmsKeyId: sharedSetting(
    'S3_KMS_KEY_ID',
    'Key of S3_SERVER_SIDE_ENCRYPTION=aws:kms. Unset: the default key of the account.',
    z.string().optional(),
  ),
  s3AccessKeyId: sharedSetting(
    'S3_ACCESS_KEY_ID',
    "Access key of the bucket. Unset: the AWS SDK's own chain (environment, profile, role of the machine).",
    z.string().optional(),
  ),
  s3SecretAccessKey: sharedSetting('S3_SECRET_ACCESS_KEY', 'Secret of S3_ACCESS_KEY_ID.', z.string().optional(), true),
};
export type AssetSettings = SettingsOf<typeof assetSettings>;
