import { EXPIRES_IN_SECONDS, Refusal, TAG_LIMITS, parseBlobHash, type FieldError } from '@millrace/contracts';
import { isPlainText, readFilePath, type AssetFields, type UploadFields } from '../records';
import { isMediaType } from '../media';

/** The fields of a request as they came, of any type: of a form, whose numbers have been read, or of JSON. */
export type RawFields = Readonly<Record<string, unknown>>;

const HASH_FORM = 'blake3: and 64 hexadecimal digits';

/**
 * Read the fields of an upload (wire supplement, section 1).
 *
 * @param faults that were found in other fields; they are refused with those found here.
 * @throws Refusal `invalid_request` naming every field that is wrong.
 */
export function readUploadFields(raw: RawFields, faults: FieldError[] = []): UploadFields {
  const contentType = textOf(raw, 'content_type', faults, 'a media type, e.g. image/png')?.trim() ?? null;
  if (contentType !== null && !isMediaType(contentType)) {
    faults.push({ field: 'content_type', reason: 'must be a media type, e.g. image/png' });
  }
  if (raw.file_path === undefined) {
    faults.push({ field: 'file_path', reason: 'is required: a relative path or file name, e.g. photo.png' });
  }
  const expectedHash = hashOf(raw, 'expected_hash', faults);
  const fields = readShared(raw, faults);
  if (faults.length > 0) throw Refusal.ofFields(faults);
  return { ...fields, contentType: contentType ?? '', expectedHash };
}

/** Read the fields of a mint from a hash. @throws Refusal `invalid_request` naming every field that is wrong. */
export function readMintFields(raw: RawFields): { hash: string; fields: AssetFields } {
  const faults: FieldError[] = [];
  if (raw.hash === undefined) faults.push({ field: 'hash', reason: `is required: ${HASH_FORM}` });
  const hash = hashOf(raw, 'hash', faults);
  const fields = readShared(raw, faults);
  if (faults.length > 0 || hash === null) throw Refusal.ofFields(faults);
  return { hash, fields };
}

/** Null where it is absent, or wrong and among the faults. @param required what it is; absent where it need not be there. */
function textOf(raw: RawFields, field: string, faults: FieldError[], required?: string): string | null {
  const { [field]: value } = raw;
  if (typeof value === 'string') return value;
  if (value !== undefined) faults.push({ field, reason: 'must be a text' });
  else if (required !== undefined) faults.push({ field, reason: `is required: ${required}` });
  return null;
}

function hashOf(raw: RawFields, field: string, faults: FieldError[]): string | null {
  const { [field]: value } = raw;
  const hash = typeof value === 'string' ? parseBlobHash(value) : null;
  if (hash === null && value !== undefined) faults.push({ field, reason: `must be ${HASH_FORM}` });
  return hash;
}

function readShared(raw: RawFields, faults: FieldError[]): AssetFields {
  const tags = tagsOf(raw.tags);
  if (typeof tags === 'string') faults.push({ field: 'tags', reason: tags });
  return {
    filePath: pathOf(textOf(raw, 'file_path', faults), faults),
    tags: typeof tags === 'string' ? [] : tags,
    labels: null,
    expiresInSeconds: expiryOf(raw.expires_in, faults),
  };
}

function pathOf(text: string | null, faults: FieldError[]): string | null {
  if (text === null) return null;
  const reading = readFilePath(text);
  if ('path' in reading) return reading.path;
  faults.push({ field: 'file_path', reason: reading.reason });
  return null;
}

/** Each once, or why they are none. */
function tagsOf(raw: unknown): string[] | string {
  if (raw === undefined) return [];
  if (!Array.isArray(raw)) return 'must be a list of texts';
  if (raw.length > TAG_LIMITS.sent) return `has ${raw.length} items; at most ${TAG_LIMITS.sent} are read`;
  const tags = [...new Set<unknown>(raw)];
  if (!tags.every((tag) => typeof tag === 'string')) return 'must be a list of texts';
  return faultOfTags(tags) ?? tags;
}

function faultOfTags(tags: string[]): string | null {
  if (tags.length > TAG_LIMITS.count) return `has ${tags.length} tags; at most ${TAG_LIMITS.count} are kept`;
  const bad = tags.find((tag) => tag === '' || tag.length > TAG_LIMITS.length || !isPlainText(tag));
  return bad === undefined ? null : `a tag is 1 to ${TAG_LIMITS.length} characters without control characters`;
}

function expiryOf(seconds: unknown, faults: FieldError[]): number | null {
  if (seconds === undefined) return null;
  const { min, max } = EXPIRES_IN_SECONDS;
  if (typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= min && seconds <= max) return seconds;
  faults.push({ field: 'expires_in', reason: `must be a whole number of seconds from ${min} to ${max}` });
  return null;
}
