import type { OutputType } from '@millrace/contracts';
import { essenceOf } from './media-type';
import { magicTypeOf } from './magic';

const UNKNOWN = 'application/octet-stream';

/** The type of a text, and of a binary format without a signature, by the ending of its name. */
const TEXT_ENDINGS: Record<string, string> = {
  css: 'text/css',
  csv: 'text/csv',
  gltf: 'model/gltf+json',
  htm: 'text/html',
  html: 'text/html',
  js: 'text/javascript',
  json: 'application/json',
  md: 'text/markdown',
  mtl: 'model/mtl',
  obj: 'model/obj',
  ply: 'model/ply',
  srt: 'application/x-subrip',
  stl: 'model/stl',
  vtt: 'text/vtt',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
};
const BINARY_ENDINGS: Record<string, string> = {
  ply: 'model/ply',
  stl: 'model/stl',
  usdz: 'model/vnd.usdz+zip',
};

/**
 * The type of bytes: by the bytes themselves, and by the name's ending only for formats that look like any text or any
 * archive. Never a picture, a film or a sound by its name alone.
 *
 * @param head the first bytes; see `HEAD_BYTES`.
 */
export function sniffContentType(head: Buffer, name: string | null): string {
  const ending = /\.([A-Za-z0-9]{1,8})$/.exec(name ?? '')?.[1]?.toLowerCase() ?? '';
  const magic = magicTypeOf(head);
  if (magic !== null) return (magic === 'application/zip' && BINARY_ENDINGS[ending]) || magic;
  if (head.length > 0 && !isText(head)) return BINARY_ENDINGS[ending] ?? UNKNOWN;
  const markup = markupTypeOf(head);
  const type = markup ?? TEXT_ENDINGS[ending] ?? (head.length > 0 || ending === 'txt' ? 'text/plain' : UNKNOWN);
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type;
}

/**
 * The kind of an output (contract, 2.3; wire supplement, section 7): by its type, not by the key under which a node reported
 * it. The list is closed; anything else is a `file`.
 */
export function outputTypeOf(contentType: string, name: string): OutputType {
  if (/\.latent$/i.test(name)) return 'latent';
  const essence = essenceOf(contentType);
  if (essence === 'application/json') return 'text';
  const family = essence.split('/')[0];
  return family === 'image' || family === 'video' || family === 'audio' || family === 'text' ? family : 'file';
}

/** UTF-8 without control characters other than white space and escape. */
function isText(head: Buffer): boolean {
  try {
    // As a stream: the last character may be cut off.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return !/[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]/.test(text);
  } catch {
    return false;
  }
}

function markupTypeOf(head: Buffer): string | null {
  const start = head
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart()
    .toLowerCase();
  if (/^<svg[\s>/]/.test(start)) return 'image/svg+xml';
  if (/^(<\?xml|<!--|<!doctype svg)/.test(start) && /<svg[\s>/]/.test(start)) return 'image/svg+xml';
  return /^<(!doctype html|html)[\s>]/.test(start) ? 'text/html' : null;
}
