import { EXPIRES_IN_SECONDS, Refusal, TAG_LIMITS, parseBlobHash, type FieldError } from '@millrace/contracts';
import { isPlainText, readFilePath, type AssetFields, type UploadFields } from '../records';
import { isMediaType } from '../media';

/** The fields of `POST /assets` as the form has them; numbers are text there. */
export interface RawUploadFields extends RawAssetFields {
  content_type?: string | undefined;
  expected_hash?: string | undefined;
}

/** The fields that an upload and a mint from a hash share. */
export interface RawAssetFields {
  file_path?: string | undefined;
  tags?: string[] | undefined;
  expires_in?: string | number | undefined;
}

/**
 * Read the fields of an upload (wire supplement, section 1).
 *
 * @throws Refusal `invalid_request` naming every field that is wrong.
 */
export function readUploadFields(raw: RawUploadFields): UploadFields {
  const faults: FieldError[] = [];
  const contentType = raw.content_type?.trim() ?? '';
  if (raw.content_type === undefined) faults.push({ field: 'content_type', reason: 'is required' });
  else if (!isMediaType(contentType)) {
    faults.push({ field: 'content_type', reason: 'must be a media type, e.g. image/png' });
  }
  if (raw.file_path === undefined) faults.push({ field: 'file_path', reason: 'is required' });
  const expectedHash = raw.expected_hash === undefined ? null : parseBlobHash(raw.expected_hash);
  if (raw.expected_hash !== undefined && expectedHash === null) {
    faults.push({ field: 'expected_hash', reason: 'must be blake3: and 64 hexadecimal digits' });
  }
  const fields = readShared(raw, faults);
  if (faults.length > 0) throw Refusal.ofFields(faults);
  return { ...fields, contentType, expectedHash };
}

/** Read the fields of a mint from a hash, without the hash. @throws Refusal `invalid_request` naming every field that is wrong. */
export function readAssetFields(raw: RawAssetFields): AssetFields {
  const faults: FieldError[] = [];
  const fields = readShared(raw, faults);
  if (faults.length > 0) throw Refusal.ofFields(faults);
  return fields;
}

/** Read a content hash. @throws Refusal `invalid_request`. */
export function readHash(text: string): string {
  const hash = parseBlobHash(text);
  if (hash !== null) return hash;
  throw Refusal.ofFields([{ field: 'hash', reason: 'must be blake3: and 64 hexadecimal digits' }]);
}

function readShared(raw: RawAssetFields, faults: FieldError[]): AssetFields {
  const tags = [...new Set(raw.tags ?? [])];
  const fault = faultOfTags(tags);
  if (fault !== null) faults.push({ field: 'tags', reason: fault });
  return {
    filePath: pathOf(raw.file_path, faults),
    tags,
    labels: null,
    expiresInSeconds: expiryOf(raw.expires_in, faults),
  };
}

function pathOf(text: string | undefined, faults: FieldError[]): string | null {
  if (text === undefined) return null;
  const reading = readFilePath(text);
  if ('path' in reading) return reading.path;
  faults.push({ field: 'file_path', reason: reading.reason });
  return null;
}

function faultOfTags(tags: string[]): string | null {
  if (tags.length > TAG_LIMITS.count) return `has ${tags.length} tags; at most ${TAG_LIMITS.count} are kept`;
  const bad = tags.find((tag) => tag === '' || tag.length > TAG_LIMITS.length || !isPlainText(tag));
  return bad === undefined ? null : `a tag is 1 to ${TAG_LIMITS.length} characters without control characters`;
}

function expiryOf(raw: string | number | undefined, faults: FieldError[]): number | null {
  if (raw === undefined || raw === '') return null;
  const { min, max } = EXPIRES_IN_SECONDS;
  const seconds = typeof raw === 'number' || /^\d{1,9}$/.test(raw) ? Number(raw) : Number.NaN;
  if (Number.isInteger(seconds) && seconds >= min && seconds <= max) return seconds;
  faults.push({ field: 'expires_in', reason: `must be a whole number of seconds from ${min} to ${max}` });
  return null;
}
