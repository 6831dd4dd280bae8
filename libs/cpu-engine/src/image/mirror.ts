import { NodeFault } from '../node-api/node-fault';
import type { Work } from '../node-api/work';
import { rowLength, type Size, type Tensor } from './tensor';

/** Where a place beyond the ends of an axis looks: mirrored at the end pixel, which is not repeated. */
export function mirrored(at: number, length: number): number {
  if (at < 0) return -at;
  return at < length ? at : 2 * (length - 1) - at;
}

/** @throws {NodeFault} when a margin of `radius` would reach beyond the mirror image. */
export function checkRadius({ width, height }: Size, radius: number): void {
  if (radius >= width || radius >= height)
    throw new NodeFault(
      `A radius of ${radius} needs a picture of more than ${radius} pixels on either side; this one is ${width}×${height}.`,
    );
}

/** The rows of one picture with `radius` mirrored pixels at either end, one after the other. */
export function withMargins(source: Tensor, picture: number, radius: number, work: Work): Float32Array {
  const { width, height, channels, data } = source;
  const padded = work.floats(height * (width + 2 * radius) * channels);
  let to = 0;
  for (let y = 0; y < height; y += 1) {
    work.checkpoint();
    const from = (picture * height + y) * rowLength(source);
    for (let x = -radius; x < width + radius; x += 1) {
      const at = from + mirrored(x, width) * channels;
      for (let c = 0; c < channels; c += 1) padded[to++] = data[at + c] as number;
    }
  }
  return padded;
}
