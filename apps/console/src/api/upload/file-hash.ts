import { blake3 } from '@noble/hashes/blake3.js';
import { bytesToHex } from '@noble/hashes/utils.js';

/** Some milliseconds of work: between two pieces the page stays usable. */
const PIECE_BYTES = 1_048_576;

/**
 * The content hash of a file, as the service spells it. Memory does not grow with the file.
 *
 * @param onProgress the share that was read, 0 to 1.
 */
export async function hashFile(file: Blob, onProgress: (share: number) => void): Promise<string> {
  const hash = blake3.create();
  for (let start = 0; start < file.size; start += PIECE_BYTES) {
    hash.update(new Uint8Array(await file.slice(start, start + PIECE_BYTES).arrayBuffer()));
    onProgress(Math.min(1, (start + PIECE_BYTES) / file.size));
  }
  return `blake3:${bytesToHex(hash.digest())}`;
}
