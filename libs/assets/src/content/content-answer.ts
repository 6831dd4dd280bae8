import contentDisposition from 'content-disposition';
import { Refusal } from '@millrace/contracts';
import { namesTag } from '@millrace/platform';
import { baseName, type AssetRecord } from '../records';
import { readRange } from './byte-range';
import type { ByteRange } from '../store';
import { essenceOf } from '../media';

/** The headers of a request for content that decide the answer. */
export interface ContentRequest {
  method: 'GET' | 'HEAD';
  range?: string | undefined;
  ifRange?: string | undefined;
  ifNoneMatch?: string | undefined;
}

/** An answer without its bytes; `bytes` says which of them to send, null for none. */
export interface ContentPlan {
  status: 200 | 206 | 304;
  headers: Record<string, string>;
  bytes: ByteRange | null;
}

/** Pictures, films and sounds that a browser shows and that cannot carry code. */
const SHOWN = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/bmp',
  'video/mp4',
  'video/webm',
  'video/quicktime',
  'video/ogg',
  'audio/mpeg',
  'audio/mp4',
  'audio/aac',
  'audio/wav',
  'audio/flac',
  'audio/ogg',
]);
/** The bytes of an asset never change, but it may be deleted, so clients cache it for a short time only. */
const CACHE_SECONDS = 300;

/** True when content of this type may be shown in the browser, if its bytes are of that type. */
export function isShown(contentType: string): boolean {
  return SHOWN.has(essenceOf(contentType));
}

/**
 * Value of Content-Disposition (RFC 6266; names beyond ASCII by RFC 5987): `inline` only if the declared type and the type of
 * the bytes are both harmless and of one kind, else `attachment`.
 *
 * @param sniffed the type of the bytes; see `sniffContentType`.
 */
export function dispositionOf(asset: AssetRecord, sniffed: string): string {
  const shown = isShown(asset.contentType) && isShown(sniffed) && kindOf(asset.contentType) === kindOf(sniffed);
  const name = asset.filePath === null ? asset.id : baseName(asset.filePath);
  // Names beyond ASCII are sent by RFC 5987 alone: clients disagree on what bytes above 127 mean in a header.
  const fallback = name.replace(/[^\x20-\x7e]/g, '?');
  return contentDisposition(name, { type: shown ? 'inline' : 'attachment', fallback });
}

/** Films and sounds are one kind: the same containers hold both. */
function kindOf(contentType: string): 'picture' | 'recording' {
  return contentType.toLowerCase().startsWith('image/') ? 'picture' : 'recording';
}

/** The headers of every answer with customers' bytes: no browser runs them in our origin. */
export function servingHeaders(asset: AssetRecord, sniffed: string): Record<string, string> {
  return {
    'Content-Type': asset.contentType,
    'Content-Disposition': dispositionOf(asset, sniffed),
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': 'sandbox',
    'Cache-Control': `private, max-age=${CACHE_SECONDS}`,
    'Accept-Ranges': 'bytes',
    ETag: etagOf(asset),
  };
}

/**
 * Decide an answer (RFC 9110, sections 13 and 14). Content-Length is that of the bytes, for HEAD too.
 *
 * @throws Refusal `invalid_request` with status 416 for a range beyond the end.
 */
export function planContent(asset: AssetRecord, sniffed: string, request: ContentRequest): ContentPlan {
  const { sizeBytes } = asset.blob;
  const headers = servingHeaders(asset, sniffed);
  const etag = etagOf(asset);
  if (namesTag(request.ifNoneMatch, etag)) return { status: 304, headers, bytes: null };
  // Only an equal strong tag lets a client continue with a range: the bytes are then the same.
  const applies = request.method === 'GET' && (request.ifRange === undefined || request.ifRange.trim() === etag);
  const range = applies ? readRange(request.range, sizeBytes) : 'whole';
  if (range === 'unsatisfiable') throw noSuchPart(request.range, sizeBytes);
  const bytes = range === 'whole' ? { start: 0, end: sizeBytes - 1 } : range;
  const length = { 'Content-Length': String(bytes.end - bytes.start + 1) };
  const sent = request.method === 'GET' && sizeBytes > 0 ? bytes : null;
  if (range === 'whole') return { status: 200, headers: { ...headers, ...length }, bytes: sent };
  const part = { 'Content-Range': `bytes ${bytes.start}-${bytes.end}/${sizeBytes}` };
  return { status: 206, headers: { ...headers, ...length, ...part }, bytes: sent };
}

function noSuchPart(range = '', sizeBytes: number): Refusal {
  const message = `The file has ${sizeBytes} bytes, none of which is in the range ${range.slice(0, 100)}; ask for an earlier one.`;
  return new Refusal('invalid_request', message, { status: 416, headers: { 'Content-Range': `bytes */${sizeBytes}` } });
}

/** The hash identifies the bytes, so it is a strong validator. */
function etagOf(asset: AssetRecord): string {
  return `"${asset.blob.hash}"`;
}
