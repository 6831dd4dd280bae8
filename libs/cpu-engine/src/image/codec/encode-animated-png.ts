import type { Work } from '../../node-api/work';
import { encodePng } from './encode-png';
import { pngChunks, pngFile, type PngChunk } from './png-chunks';
import { shownFrames, type ShownFrame } from './shown-frames';
import type { RawPicture } from './vips';

/** The greatest delay that the format can write, in milliseconds. */
const MAX_DELAY_MS = 0xffff;

/**
 * An animated PNG (W3C, Portable Network Graphics, third edition) that plays in an endless loop. Frames like the one before them
 * only prolong it, as Pillow has it; if that leaves one, the file is a plain picture. `level` is zlib's, 0 to 9.
 */
export async function encodeAnimatedPng(
  pictures: RawPicture[],
  delayMs: number,
  level: number,
  work: Work,
): Promise<Buffer> {
  const frames = shownFrames(pictures, delayMs);
  const files: Buffer[] = [];
  for (const { picture } of frames) files.push(await encodePng(picture, level, work));
  const [first] = files as [Buffer];
  if (frames.length === 1) return first;
  // Their chunks once more, with numbers, and the file.
  work.reserve(2 * files.reduce((sum, { length }) => sum + length, 0));
  let sequence = 0;
  const chunks: PngChunk[] = [];
  for (const [index, frame] of frames.entries()) {
    chunks.push({ type: 'fcTL', data: frameControl(sequence++, frame) });
    for (const { type, data } of pngChunks(files[index] as Buffer)) {
      if (type !== 'IDAT') continue;
      chunks.push(index === 0 ? { type, data } : { type: 'fdAT', data: numbered(sequence++, data) });
    }
  }
  return pngFile([...headerOf(first), animationControl(frames.length), ...chunks, end()]);
}

function headerOf(file: Buffer): PngChunk[] {
  return [...pngChunks(file)].filter(({ type }) => type === 'IHDR');
}

function animationControl(frames: number): PngChunk {
  const data = Buffer.alloc(8);
  data.writeUInt32BE(frames, 0);
  return { type: 'acTL', data };
}

function frameControl(sequence: number, { picture, delayMs }: ShownFrame): Buffer {
  const data = Buffer.alloc(26);
  data.writeUInt32BE(sequence, 0);
  data.writeUInt32BE(picture.width, 4);
  data.writeUInt32BE(picture.height, 8);
  data.writeUInt16BE(Math.min(delayMs, MAX_DELAY_MS), 20);
  data.writeUInt16BE(1000, 22);
  return data;
}

function numbered(sequence: number, data: Uint8Array): Buffer {
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(sequence, 0);
  return Buffer.concat([prefix, data]);
}

function end(): PngChunk {
  return { type: 'IEND', data: Buffer.alloc(0) };
}
