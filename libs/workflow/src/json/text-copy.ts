/**
 * A text of its own, for what is kept longer than the text that it is a part of: V8 keeps all of a text in memory for a part of it, and the
 * strings of a document are parts of what was parsed.
 */
export function copyOf(part: string): string {
  return Buffer.from(part, 'utf16le').toString('utf16le');
}
