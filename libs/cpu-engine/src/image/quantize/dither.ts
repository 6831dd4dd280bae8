import type { Work } from '../../node-api/work';
import type { Palette } from './palette';

/** 8-bit RGB pixels of one picture. */
export interface Pixels {
  width: number;
  height: number;
  data: Uint8Array;
}

/** Every pixel in its nearest colour of the palette. */
export function snap({ width, data }: Pixels, palette: Palette, work: Work): Uint8Array {
  const result = work.bytes(data.length);
  for (let at = 0; at < data.length; at += 3) {
    if (at % (width * 3) === 0) work.checkpoint();
    const index = palette.indexOf(data[at] as number, data[at + 1] as number, data[at + 2] as number);
    for (let c = 0; c < 3; c += 1) result[at + c] = palette.colours[index * 3 + c] as number;
  }
  return result;
}

/**
 * Error diffusion after Floyd and Steinberg (1976) in Pillow's whole numbers: 7/16 of a pixel's error go right, 3/16, 5/16
 * and 1/16 below. At the end of a row Pillow files blue's errors under all three channels; so does this.
 */
export function diffuse({ width, height, data }: Pixels, palette: Palette, work: Work): Uint8Array {
  const result = work.bytes(data.length);
  const below = new Int32Array((width + 1) * 3);
  const right = new Int32Array(3);
  const under = new Int32Array(3);
  const underRight = new Int32Array(3);
  const wanted = new Int32Array(3);
  for (let y = 0; y < height; y += 1) {
    work.checkpoint();
    right.fill(0);
    under.fill(0);
    underRight.fill(0);
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * 3;
      for (let c = 0; c < 3; c += 1) {
        const error = Math.trunc(((right[c] as number) + (below[(x + 1) * 3 + c] as number)) / 16);
        wanted[c] = clamped((data[at + c] as number) + error);
      }
      const index = palette.indexOf(wanted[0] as number, wanted[1] as number, wanted[2] as number);
      for (let c = 0; c < 3; c += 1) {
        const colour = palette.colours[index * 3 + c] as number;
        const error = (wanted[c] as number) - colour;
        result[at + c] = colour;
        below[x * 3 + c] = 3 * error + (under[c] as number);
        under[c] = 5 * error + (underRight[c] as number);
        underRight[c] = error;
        right[c] = 7 * error;
      }
    }
    below.set([under[2] as number, underRight[2] as number, underRight[2] as number], width * 3);
  }
  return result;
}

/**
 * Ordered dithering: a Bayer matrix (1973) of `order` × `order` thresholds is laid over the picture before every pixel
 * takes its nearest colour. The fewer the colours, the stronger.
 */
export function bayer(pixels: Pixels, palette: Palette, order: number, work: Work): Uint8Array {
  const { width, data } = pixels;
  const spread = (2 * 256) / palette.size;
  const thresholds = bayerMatrix(order).map((row) =>
    row.map((value) => Math.fround(Math.fround(spread * value) + 0.5)),
  );
  const lifted = work.bytes(data.length);
  for (let at = 0; at < data.length; at += 3) {
    const pixel = at / 3;
    const x = pixel % width;
    if (x === 0) work.checkpoint();
    const threshold = thresholds[((pixel - x) / width) % order]?.[x % order] ?? 0;
    for (let c = 0; c < 3; c += 1) lifted[at + c] = Math.trunc(clamped((data[at + c] as number) + threshold));
  }
  return snap({ ...pixels, data: lifted }, palette, work);
}

/** Thresholds around 0, from about -1/2 to 1/2: M(2n) has the blocks M(n) + (-1.5, 0.5; 1.5, -0.5) / 4^(log2 n + 1). */
function bayerMatrix(order: number): number[][] {
  if (order === 1) return [[0]];
  const half = bayerMatrix(order / 2);
  const levels = order * order;
  const block = (offset: number): number[][] => half.map((row) => row.map((value) => value + offset / levels));
  const beside = (left: number[][], right: number[][]): number[][] =>
    left.map((row, y) => [...row, ...(right[y] as number[])]);
  return [...beside(block(-1.5), block(0.5)), ...beside(block(1.5), block(-0.5))];
}

function clamped(value: number): number {
  return value < 0 ? 0 : value > 255 ? 255 : value;
}
