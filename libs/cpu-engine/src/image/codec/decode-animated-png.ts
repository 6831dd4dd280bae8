import { NodeFault } from '../../node-api/node-fault';
import type { Work } from '../../node-api/work';
import { checkPictureCount, type DecodedPictures } from './decoded-pictures';
import { pngChunks, pngFile, type PngChunk } from './png-chunks';
import { open } from './vips';

/** One frame of an animated PNG (W3C, Portable Network Graphics, third edition, section 11.3.6). */
interface Frame {
  width: number;
  height: number;
  x: number;
  y: number;
  /** What becomes of the frame's place afterwards: 0 stays, 1 is cleared, 2 is put back as before. */
  dispose: number;
  /** 0 overwrites what is there, 1 is laid over it. */
  blend: number;
  data: Uint8Array[];
}

/** Each costs an object or two; an ordinary file of the greatest size allowed has some ten thousand. */
const MAX_CHUNKS = 65_536;

const CHECK_EVERY = 1 << 18;

/** Chunks that say how the pixels of every frame are to be read. */
const SHARED = new Set(['PLTE', 'tRNS', 'gAMA', 'sBIT']);

/** Whether a PNG says that it is animated, and has frames: one without is the still picture for readers that know no animation. */
export function isAnimatedPng(file: Uint8Array): boolean {
  let saysSo = false;
  for (const { type } of pngChunks(file)) {
    if (type === 'acTL') saysSo = true;
    if (type === 'IDAT' && !saysSo) return false;
    if (type === 'fcTL' && saysSo) return true;
  }
  return false;
}

/**
 * All frames of an animated PNG, each as it is seen: in the full size, over what stands from earlier ones.
 *
 * @throws {NodeFault} before decoding when they pass the memory budget.
 */
export async function decodeAnimatedPng(file: Uint8Array, work: Work): Promise<DecodedPictures> {
  const chunks = boundedChunks(file);
  const header = Buffer.from(chunks[0]?.data ?? []);
  const width = header.readUInt32BE(0);
  const height = header.readUInt32BE(4);
  const frames = framesOf(chunks);
  checkPictureCount(frames.length);
  const shared = chunks.filter(({ type }) => SHARED.has(type));
  const hasAlpha = (header.readUInt8(9) & 4) !== 0 || chunks.some(({ type }) => type === 'tRNS');
  if (frames.some((frame) => frame.x + frame.width > width || frame.y + frame.height > height))
    throw new RangeError('A frame reaches beyond the picture.');
  const canvas = work.bytes(width * height * 4);
  const data = work.bytes(frames.length * canvas.length);
  work.reserve(canvas.length + Math.max(0, ...frames.map((frame) => frameBytes(header, frame))));
  for (const [index, frame] of frames.entries()) {
    work.checkpoint();
    const before = frame.dispose === 2 ? canvas.slice() : null;
    draw(canvas, width, frame, await decodeFrame(header, shared, frame));
    data.set(canvas, index * canvas.length);
    if (before) canvas.set(before);
    else if (frame.dispose === 1) clear(canvas, width, frame);
  }
  const pictures = { width, height, count: frames.length, alphaIsIdle: false };
  return hasAlpha ? { ...pictures, channels: 4, data } : { ...pictures, channels: 3, data: withoutAlpha(data, work) };
}

/** What decoding a frame takes: its file, its pixels, and in its own depth all of them once more where it is interlaced. */
function frameBytes(header: Buffer, { width, height, data }: Frame): number {
  const fileBytes = data.reduce((sum, { length }) => sum + length, 0);
  const isInterlaced = header.readUInt8(12) !== 0;
  const storedBytes = header.readUInt8(8) === 16 ? 8 : 4;
  return 2 * fileBytes + width * height * (4 + (isInterlaced ? storedBytes : 0));
}

function boundedChunks(file: Uint8Array): PngChunk[] {
  const chunks: PngChunk[] = [];
  for (const chunk of pngChunks(file)) {
    if (chunks.length === MAX_CHUNKS)
      throw new NodeFault(`An animated PNG of more than ${MAX_CHUNKS} parts is not read; write it again with fewer.`);
    chunks.push(chunk);
  }
  return chunks;
}

/** The frames in order. The still picture for readers that know no animation is none of them unless it is described as one. */
function framesOf(chunks: PngChunk[]): Frame[] {
  const frames: Frame[] = [];
  for (const { type, data } of chunks) {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    if (type === 'fcTL') {
      const [width, height, x, y] = [4, 8, 12, 16].map((at) => bytes.readUInt32BE(at)) as [
        number,
        number,
        number,
        number,
      ];
      frames.push({ width, height, x, y, dispose: bytes.readUInt8(24), blend: bytes.readUInt8(25), data: [] });
    } else if (type === 'IDAT') frames.at(-1)?.data.push(bytes);
    else if (type === 'fdAT') frames.at(-1)?.data.push(bytes.subarray(4));
  }
  return frames;
}

/** A frame is a PNG file of its own size. */
async function decodeFrame(header: Buffer, shared: PngChunk[], { width, height, data }: Frame): Promise<Uint8Array> {
  const own = Buffer.from(header);
  own.writeUInt32BE(width, 0);
  own.writeUInt32BE(height, 4);
  const file = pngFile([
    { type: 'IHDR', data: own },
    ...shared,
    { type: 'IDAT', data: Buffer.concat(data) },
    { type: 'IEND', data: Buffer.alloc(0) },
  ]);
  return open(file).ensureAlpha().raw().toBuffer();
}

function draw(canvas: Uint8Array, width: number, frame: Frame, pixels: Uint8Array): void {
  for (let y = 0; y < frame.height; y += 1) {
    const to = ((frame.y + y) * width + frame.x) * 4;
    const row = pixels.subarray(y * frame.width * 4, (y + 1) * frame.width * 4);
    if (frame.blend === 0) canvas.set(row, to);
    else for (let at = 0; at < row.length; at += 4) layOver(canvas, to + at, row, at);
  }
}

function layOver(canvas: Uint8Array, to: number, row: Uint8Array, at: number): void {
  const over = (row[at + 3] as number) / 255;
  const under = ((canvas[to + 3] as number) / 255) * (1 - over);
  const alpha = over + under;
  if (alpha === 0) return;
  for (let c = 0; c < 3; c += 1)
    canvas[to + c] = Math.round(((row[at + c] as number) * over + (canvas[to + c] as number) * under) / alpha);
  canvas[to + 3] = Math.round(alpha * 255);
}

function clear(canvas: Uint8Array, width: number, { x, y, width: columns, height: rows }: Frame): void {
  for (let row = y; row < y + rows; row += 1) canvas.fill(0, (row * width + x) * 4, (row * width + x + columns) * 4);
}

function withoutAlpha(data: Uint8Array, work: Work): Uint8Array {
  const rgb = work.bytes((data.length / 4) * 3);
  for (let from = 0, to = 0; from < data.length; from += 4) {
    if (from % CHECK_EVERY === 0) work.checkpoint();
    for (let c = 0; c < 3; c += 1) rgb[to++] = data[from + c] as number;
  }
  return rgb;
}
