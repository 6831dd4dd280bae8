/** Longest `file_path` in characters. */
export const FILE_PATH_LENGTH = 1_024;

// Control characters, lone surrogates, and the bidirectional controls of Unicode (UAX 9), which can disguise a name.
const UNSAFE = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** True for text that can be shown, logged and sent in a header without harm. */
export function isPlainText(text: string): boolean {
  return !UNSAFE.test(text);
}

/** A normalised path, or why the text is none. */
export type FilePathReading = { path: string } | { reason: string };

/**
 * Read a client's `file_path`: a relative path with `/` between its parts. Backslashes become slashes, empty parts and `.`
 * are dropped; a path with `..` is refused, not repaired.
 */
export function readFilePath(text: string): FilePathReading {
  if (text.length > FILE_PATH_LENGTH) return { reason: `must be at most ${FILE_PATH_LENGTH} characters` };
  if (!isPlainText(text)) return { reason: 'contains control or direction characters' };
  const slashed = text.replaceAll('\\', '/');
  const parts = slashed.split('/').filter((part) => part !== '' && part !== '.');
  const isAbsolute = slashed.startsWith('/') || /^[A-Za-z]:/.test(parts[0] ?? '');
  if (isAbsolute) return { reason: 'must be relative, e.g. images/cat.png' };
  if (parts.includes('..')) return { reason: 'must not contain ..' };
  if (parts.length === 0) return { reason: 'must name a file, e.g. images/cat.png' };
  return { path: parts.join('/') };
}

/** The last part of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
