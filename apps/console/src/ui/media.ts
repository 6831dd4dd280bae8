import type { Output } from '@millrace/contracts';

/** Pictures that a browser draws from pixels. SVG is none of them: it is a document that can hold scripts and links. */
const PICTURES = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/avif']);

/** Whether a file may be shown as a picture. */
export function isPicture({ content_type }: Pick<Output, 'content_type'>): boolean {
  return PICTURES.has(content_type.split(';')[0]?.trim().toLowerCase() ?? '');
}

/** A larger picture is not read for a thumbnail. */
const THUMBNAIL_BYTES = 20_000_000;

/** Whether a file may be shown as a picture in a list. */
export function isThumbnail(file: Pick<Output, 'content_type' | 'size_bytes'>): boolean {
  return isPicture(file) && file.size_bytes <= THUMBNAIL_BYTES;
}

/** Types beyond `text/*` that people read. */
const READABLE = new Set(['application/json', 'image/svg+xml', 'application/xml', 'application/yaml']);

/** Whether a file is shown as text: its source, never what it would draw. */
export function isReadable({ content_type }: Pick<Output, 'content_type'>): boolean {
  const type = content_type.split(';')[0]?.trim().toLowerCase() ?? '';
  return type.startsWith('text/') || READABLE.has(type);
}
