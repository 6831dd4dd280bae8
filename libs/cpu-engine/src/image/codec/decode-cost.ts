import type { Metadata } from 'sharp';

/** What decoding a file takes, from its header alone. */
export interface DecodeCost {
  /** The pictures, in 8 bits, red, green, blue and perhaps alpha. */
  keptBytes: number;
  /** What the decoder holds beside them while it works, at the most. */
  workingBytes: number;
}

/** Bytes of a sample before it is brought to 8 bits; what is not listed counts as the widest. */
const SAMPLE_BYTES: Record<string, number> = {
  uchar: 1,
  char: 1,
  ushort: 2,
  short: 2,
  uint: 4,
  int: 4,
  float: 4,
  double: 8,
};
const WIDEST_SAMPLE_BYTES = 16;

/** Orientations that leave a picture as it stands (Exif 2.32, tag 274): 1, or none. Others are turned as a whole. */
const UPRIGHT = 1;

/**
 * Bytes for each pixel that decoders hold beside what they return, measured as the peak of a process over flat pictures of
 * 4000×4000 (AVIF: 2000×2000) with libvips 8.18: WebP 8.7, of GIF 4.7, AVIF 16.
 */
const WEBP_PIXEL_BYTES = 9;
const GIF_PIXEL_BYTES = 8;
const HEIF_PIXEL_BYTES = 18;

/** @param pages how many of the file's pictures are read. */
export function decodeCost(metadata: Metadata, pages: number): DecodeCost {
  const { width, height, pageHeight = height, channels } = metadata;
  const pixels = width * pageHeight;
  return {
    keptBytes: pixels * pages * Math.max(channels, 3),
    workingBytes: pixels * workingPixelBytes(metadata, pages),
  };
}

function workingPixelBytes(metadata: Metadata, pages: number): number {
  const { channels, depth, orientation = UPRIGHT, space } = metadata;
  const stored = channels * (SAMPLE_BYTES[depth] ?? WIDEST_SAMPLE_BYTES);
  const turned = orientation === UPRIGHT ? 0 : stored;
  // Converted by ourselves, from the whole picture as it is stored.
  const converted = space === 'cmyk' || space === 'grey16' ? stored : 0;
  return formatPixelBytes(metadata, stored, pages) + turned + converted;
}

function formatPixelBytes({ format, channels, isProgressive }: Metadata, stored: number, pages: number): number {
  switch (format) {
    case 'png':
      // The last pass of an interlaced picture fills gaps of the first: all of it is kept, in its own depth.
      return isProgressive ? stored : 0;
    case 'jpeg':
      // Coefficients of 16 bits, where there are several scans: a progressive picture, or another that has them.
      return channels * 2;
    case 'gif':
      return GIF_PIXEL_BYTES;
    case 'webp':
      // Frames are laid over one another on a canvas, and stand one above the other before the alpha goes.
      return WEBP_PIXEL_BYTES + (pages > 1 ? WEBP_PIXEL_BYTES + 4 * pages : 0);
    case 'tiff':
      // One strip may be the whole picture, and pages are joined at the end.
      return stored + (pages > 1 ? pages * channels : 0);
    default:
      return HEIF_PIXEL_BYTES;
  }
}
