import type { ByteRange } from '../store';

/** What a Range header asks for: everything, a part, or a part that does not exist. */
export type RangeReading = 'whole' | 'unsatisfiable' | ByteRange;

const SINGLE_RANGE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i;

/**
 * Read a Range header for content of a size (RFC 9110, section 14). Malformed headers, other units, and several ranges at
 * once are ignored, as the RFC allows: the answer is then the whole.
 */
export function readRange(header: string | undefined, sizeBytes: number): RangeReading {
  const [, first, last] = SINGLE_RANGE.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'whole';
  if (first === '') return suffix(Number(last), sizeBytes);
  const start = Number(first);
  const end = last === '' ? Number.POSITIVE_INFINITY : Number(last);
  if (end < start) return 'whole';
  return start >= sizeBytes ? 'unsatisfiable' : { start, end: Math.min(end, sizeBytes - 1) };
}

function suffix(length: number, sizeBytes: number): RangeReading {
  if (length === 0 || sizeBytes === 0) return 'unsatisfiable';
  return { start: Math.max(0, sizeBytes - length), end: sizeBytes - 1 };
}
