import { extname } from 'node:path';

/** In UTF-8: file systems hold names of 255 bytes. Names as workers give them are kept whole, with room for what makes one unique. */
const STEM_BYTES = 210;
const EXTENSION_BYTES = 20;
const INDEX_DIGITS = 5;

/** What some system does not take in a name of a file, or takes for more than a name. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}<>:"|?*]/gu;

/**
 * The paths of a job's outputs in the archive of its batch: a folder for each job, in it the outputs by their names. No path leads out of
 * the folder, and no two are the same, also where capitals do not count.
 *
 * @param index place of the job in the batch.
 * @param names of its outputs, in their order: the same names make the same paths.
 */
export function archivePaths(index: number, names: readonly string[]): string[] {
  const taken = new Set<string>();
  /** By a name: the number of its next copy. None is tried twice, so that the same name a thousand times is not a million tries. */
  const copies = new Map<string, number>();
  return names.map((name) => {
    const safe = safeName(name);
    const key = safe.toLowerCase();
    let unique = safe;
    let copy = copies.get(key) ?? 2;
    for (; taken.has(unique.toLowerCase()); copy += 1) unique = `${copy}-${safe}`;
    copies.set(key, copy);
    taken.add(unique.toLowerCase());
    return `${String(index).padStart(INDEX_DIGITS, '0')}/${unique}`;
  });
}

/** A name with the folders before it, without those that are none. */
function safeName(name: string): string {
  const parts = name
    .replaceAll(UNSAFE, '_')
    .split(/[/\\]/)
    .map((part) => part.trim().replace(/^\.+$/, ''))
    .filter((part) => part !== '');
  const whole = parts.join('_');
  const extension = extname(whole);
  const stem = whole.slice(0, whole.length - extension.length);
  return cut(stem, STEM_BYTES) + cut(extension, EXTENSION_BYTES) || 'output';
}

/** The beginning of a text, `maxBytes` of UTF-8 at most; no character is cut in two. */
function cut(text: string, maxBytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}
