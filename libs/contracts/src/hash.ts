import { z } from 'zod';

/** The only spelling of a content hash that leaves the service: `blake3:` and 64 lower-case hexadecimal digits. */
export const BlobHashSchema = z
  .string()
  .regex(/^blake3:[0-9a-f]{64}$/)
  .meta({ id: 'BlobHash', description: 'blake3 of the content, as `blake3:<64 hex digits>`.' });

/**
 * Read a content hash as clients write it: hexadecimal digits in either case (wire supplement, section 1).
 *
 * @returns the canonical spelling, or null when the text is no blake3 hash.
 */
export function parseBlobHash(text: string): string | null {
  const canonical = text.toLowerCase();
  return /^blake3:[0-9a-f]{64}$/.test(canonical) ? canonical : null;
}
