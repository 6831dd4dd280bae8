import { crc32 } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** One chunk of a PNG file (W3C, Portable Network Graphics, section 5). */
export interface PngChunk {
  type: string;
  data: Uint8Array;
}

/** The chunks of a PNG file; none if it is another. Ends where the file is cut off. */
export function* pngChunks(file: Uint8Array): Generator<PngChunk> {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return;
  for (let at = SIGNATURE.length; at + 12 <= bytes.length;) {
    const length = bytes.readUInt32BE(at);
    if (at + 12 + length > bytes.length) return;
    yield { type: bytes.toString('latin1', at + 4, at + 8), data: bytes.subarray(at + 8, at + 8 + length) };
    at += 12 + length;
  }
}

/** A PNG file of these chunks. */
export function pngFile(chunks: PngChunk[]): Buffer {
  return Buffer.concat([SIGNATURE, ...chunks.flatMap(chunkParts)]);
}

/** True if a file names one colour as transparent: grey or RGB, no palette, no alpha channel. */
export function hasColourKey(file: Uint8Array): boolean {
  let colourType: number | undefined;
  for (const { type, data } of pngChunks(file)) {
    if (type === 'IHDR') colourType = data[9];
    if (type === 'tRNS') return colourType === 0 || colourType === 2;
    if (type === 'IDAT') return false;
  }
  return false;
}

/** The pieces of a chunk, its data among them as it stands: pictures are large. */
function chunkParts({ type, data }: PngChunk): Uint8Array[] {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.length, 0);
  head.write(type, 4, 'latin1');
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(data, crc32(head.subarray(4))), 0);
  return [head, data, check];
}
