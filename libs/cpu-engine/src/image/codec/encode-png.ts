import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createDeflate } from 'node:zlib';
import type { Work } from '../../node-api/work';
import { pngFile } from './png-chunks';
import type { RawPicture } from './vips';

/** Raw bytes handed to zlib at a time: some milliseconds of work, so that an interrupt is seen soon. */
const BAND_BYTES = 256 * 1024;

/** How often the packed pixels are in memory at the end: as zlib gave them, joined, and in the file. */
const FILE_COPIES = 3;
const COLOUR_TYPES = { 3: 2, 4: 6 } as const;

/**
 * A PNG file of 8 bits per sample without metadata (W3C, Portable Network Graphics, third edition), rows unfiltered; `level` is
 * zlib's, 0 to 9. Written here and not by the codec library, whose calls can't be broken off: a large picture takes seconds.
 *
 * @throws {RunInterrupted} between bands of rows.
 */
export async function encodePng(picture: RawPicture, level: number, work: Work): Promise<Buffer> {
  work.reserve(FILE_COPIES * picture.data.length);
  const parts: Buffer[] = [];
  const collect = async (packed: AsyncIterable<Buffer>): Promise<void> => {
    for await (const part of packed) parts.push(part);
  };
  await pipeline(Readable.from(bandsOf(picture, work), { highWaterMark: 1 }), createDeflate({ level }), collect);
  return pngFile([
    { type: 'IHDR', data: headerOf(picture) },
    { type: 'IDAT', data: Buffer.concat(parts) },
    { type: 'IEND', data: Buffer.alloc(0) },
  ]);
}

function headerOf({ width, height, channels }: RawPicture): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.writeUInt8(8, 8);
  header.writeUInt8(COLOUR_TYPES[channels], 9);
  return header;
}

/** Rows, each after the byte that says it is not filtered. */
function* bandsOf({ width, height, channels, data }: RawPicture, work: Work): Generator<Buffer> {
  const row = width * channels;
  const rows = Math.max(1, Math.floor(BAND_BYTES / (row + 1)));
  for (let top = 0; top < height; top += rows) {
    work.checkpoint();
    const count = Math.min(rows, height - top);
    const band = Buffer.alloc(count * (row + 1));
    for (let y = 0; y < count; y += 1) band.set(data.subarray((top + y) * row, (top + y + 1) * row), y * (row + 1) + 1);
    yield band;
  }
}
