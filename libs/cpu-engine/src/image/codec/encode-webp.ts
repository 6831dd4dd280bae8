import type { Work } from '../../node-api/work';
import { shownFrames, type ShownFrame } from './shown-frames';
import { write, type RawPicture } from './vips';

interface WebpOptions {
  delayMs: number;
  lossless: boolean;
  /** 0 to 100. */
  quality: number;
  /** 0 (fast) to 6 (small). */
  effort: number;
}

/** The longest side that the format has. */
export const MAX_WEBP_SIDE = 16383;

/** The greatest duration that the format can write, in milliseconds. */
const MAX_DELAY_MS = 0xffffff;

/**
 * A call of the encoder can't be broken off. Of lossless pictures beyond so many pixels less is tried to make the file small,
 * which changes no pixel: at the full effort they would take minutes.
 */
const LARGE_PIXELS = 2 * 1024 * 1024;
const LARGE_EFFORT = 1;

/**
 * Bytes for each pixel that the encoder holds at the most, what it returns included: measured as the peak of a process over
 * noise of 3000×3000 with libvips 8.18 (lossless 41.2, lossy 31.5).
 */
const LOSSLESS_PIXEL_BYTES = 48;
const LOSSY_PIXEL_BYTES = 36;

const FLAGS = { animation: 0x02, alpha: 0x10 };
const OVERWRITE = 0x02;

/**
 * A WebP file that plays in an endless loop, or a still one if there is one picture to see (RFC 9649). Frames are encoded one by one,
 * each of them whole, so that an interrupt waits for one frame and not for all.
 *
 * @throws {RunInterrupted} between frames.
 */
export async function encodeWebp(pictures: RawPicture[], options: WebpOptions, work: Work): Promise<Buffer> {
  const frames = shownFrames(pictures, options.delayMs);
  const files: Buffer[] = [];
  for (const { picture } of frames) {
    work.checkpoint();
    const file = await work.temporarily(() => {
      work.reserve(picture.width * picture.height * (options.lossless ? LOSSLESS_PIXEL_BYTES : LOSSY_PIXEL_BYTES));
      return encodeFrame(picture, options);
    });
    // Once as it is, and once in the animation.
    work.reserve(2 * file.length);
    files.push(file);
  }
  const [first] = files as [Buffer];
  return frames.length === 1 ? first : animation(frames, files);
}

function encodeFrame(picture: RawPicture, { lossless, quality, effort }: WebpOptions): Promise<Buffer> {
  const isLarge = lossless && picture.width * picture.height > LARGE_PIXELS;
  return write(picture)
    .webp({ lossless, quality: Math.max(1, quality), effort: isLarge ? Math.min(effort, LARGE_EFFORT) : effort })
    .toBuffer();
}

function animation(frames: ShownFrame[], files: Buffer[]): Buffer {
  const { width, height, channels } = (frames[0] as ShownFrame).picture;
  const extended = Buffer.alloc(10);
  extended.writeUInt8(FLAGS.animation | (channels === 4 ? FLAGS.alpha : 0), 0);
  extended.writeUIntLE(width - 1, 4, 3);
  extended.writeUIntLE(height - 1, 7, 3);
  // A background of no colour, and a loop count of 0, which means endless.
  const parts = [chunk('VP8X', extended), chunk('ANIM', Buffer.alloc(6))];
  for (const [index, frame] of frames.entries()) parts.push(chunk('ANMF', frameOf(frame, files[index] as Buffer)));
  return chunk('RIFF', Buffer.concat([Buffer.from('WEBP'), ...parts]));
}

function frameOf({ picture: { width, height }, delayMs }: ShownFrame, file: Buffer): Buffer {
  const header = Buffer.alloc(16);
  header.writeUIntLE(width - 1, 6, 3);
  header.writeUIntLE(height - 1, 9, 3);
  header.writeUIntLE(Math.min(delayMs, MAX_DELAY_MS), 12, 3);
  header.writeUInt8(OVERWRITE, 15);
  return Buffer.concat([header, ...pixelChunks(file)]);
}

/** The chunks of a still file that hold its pixels, as they stand. */
function pixelChunks(file: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 12; at + 8 <= file.length;) {
    const end = at + 8 + padded(file.readUInt32LE(at + 4));
    if (/^(?:ALPH|VP8 |VP8L)$/.test(file.toString('latin1', at, at + 4))) found.push(file.subarray(at, end));
    at = end;
  }
  return found;
}

function chunk(type: string, data: Buffer): Buffer {
  const bytes = Buffer.alloc(8 + padded(data.length));
  bytes.write(type, 0, 'latin1');
  bytes.writeUInt32LE(data.length, 4);
  data.copy(bytes, 8);
  return bytes;
}

function padded(length: number): number {
  return length + (length % 2);
}
