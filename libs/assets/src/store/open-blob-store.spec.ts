import { SettingsError, readSettings } from '@millrace/platform';
import { assetSettings } from '../assets.settings';
import { blobStoreOf } from './open-blob-store';

const open = (env: Record<string, string>): ReturnType<typeof blobStoreOf> =>
  blobStoreOf(readSettings(assetSettings, env));

describe('the blob store', () => {
  it('is the one that the settings name', () => {
    expect(open({ MILLRACE_BLOB_DIR: '/blobs' }).kind).toBe('fs');
    expect(open({ S3_BUCKET: 'blobs' }).kind).toBe('s3');
    expect(open({ S3_BUCKET: 'blobs', S3_ACCESS_KEY_ID: 'a', S3_SECRET_ACCESS_KEY: 'b' }).kind).toBe('s3');
  });

  it.each([
    [{}, 'Neither MILLRACE_BLOB_DIR nor S3_BUCKET is set; set exactly one of them.'],
    [
      { MILLRACE_BLOB_DIR: '/b', S3_BUCKET: 'b' },
      'Both MILLRACE_BLOB_DIR and S3_BUCKET are set; set exactly one of them.',
    ],
    [
      { S3_BUCKET: 'b', S3_ACCESS_KEY_ID: 'a' },
      'One of S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY is not set; set both or neither.',
    ],
    [
      { S3_BUCKET: 'b', S3_SERVER_SIDE_ENCRYPTION: 'AES256', S3_KMS_KEY_ID: 'k' },
      'S3_KMS_KEY_ID is set without S3_SERVER_SIDE_ENCRYPTION=aws:kms; set both or neither.',
    ],
  ])('stops the boot when the settings are %j', (env, sentence) => {
    expect(() => open(env)).toThrow(new SettingsError([sentence]));
  });

  it('keeps orphaned bytes at least an hour, because clients rely on it', () => {
    expect(() => readSettings(assetSettings, { MILLRACE_BLOB_GRACE_SECONDS: '3599' })).toThrow('must be at least 3600');
    expect(readSettings(assetSettings, {}).blobGraceSeconds).toBe(3_600);
  });
});
