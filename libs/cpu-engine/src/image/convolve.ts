import type { Work } from '../node-api/work';
import { checkRadius, mirrored, withMargins } from './mirror';
import { newLike, rowLength, type Tensor } from './tensor';

/**
 * Weigh every pixel's surroundings by a square kernel of 2 * radius + 1 pixels; edges are mirrored. Weights are added in the
 * kernel's order and rounded to single precision after each, as torch's `conv2d` does on a CPU.
 *
 * @throws {NodeFault} when the picture is not larger than the radius.
 */
export function convolve<T extends Tensor>(source: T, kernel: Float32Array, radius: number, work: Work): T {
  checkRadius(source, radius);
  const result = newLike(work, source, source);
  const row = rowLength(source);
  for (let n = 0; n < source.batch; n += 1) {
    work.temporarily(() => {
      const padded = withMargins(source, n, radius, work);
      for (let y = 0; y < source.height; y += 1) {
        const sums = result.data.subarray((n * source.height + y) * row, (n * source.height + y + 1) * row);
        for (let line = -radius; line <= radius; line += 1) {
          work.checkpoint();
          const from = mirrored(y + line, source.height) * (row + 2 * radius * source.channels);
          const weights = kernel.subarray((line + radius) * (2 * radius + 1), (line + radius + 1) * (2 * radius + 1));
          addLine(sums, padded, from, source.channels, weights);
        }
      }
    });
  }
  return result;
}

function addLine(
  sums: Float32Array,
  padded: Float32Array,
  from: number,
  channels: number,
  weights: Float32Array,
): void {
  for (let tap = 0; tap < weights.length; tap += 1) {
    const weight = weights[tap] as number;
    const start = from + tap * channels;
    for (let i = 0; i < sums.length; i += 1) sums[i] = (sums[i] as number) + (padded[start + i] as number) * weight;
  }
}

/**
 * The same for a kernel that is the product of `axis` with itself, along rows first and then across them: faster by half
 * the kernel's width, and the same up to the last bit of single precision.
 *
 * @throws {NodeFault} when the picture is not larger than the radius.
 */
export function convolveSeparably<T extends Tensor>(source: T, axis: Float64Array, work: Work): T {
  const radius = (axis.length - 1) / 2;
  checkRadius(source, radius);
  const result = newLike(work, source, source);
  const { height, channels } = source;
  const row = rowLength(source);
  const lines = work.floats(height * row);
  const sums = new Float64Array(row);
  for (let n = 0; n < source.batch; n += 1) {
    work.temporarily(() => {
      const padded = withMargins(source, n, radius, work);
      for (let y = 0; y < height; y += 1) {
        work.checkpoint();
        const from = y * (row + 2 * radius * channels);
        weigh(sums, axis, padded, (tap) => from + tap * channels);
        lines.set(sums, y * row);
      }
    });
    for (let y = 0; y < height; y += 1) {
      work.checkpoint();
      weigh(sums, axis, lines, (tap) => mirrored(y + tap - radius, height) * row);
      result.data.set(sums, (n * height + y) * row);
    }
  }
  return result;
}

function weigh(sums: Float64Array, axis: Float64Array, data: Float32Array, startOf: (tap: number) => number): void {
  sums.fill(0);
  for (let tap = 0; tap < axis.length; tap += 1) {
    const weight = axis[tap] as number;
    const start = startOf(tap);
    for (let i = 0; i < sums.length; i += 1) sums[i] = (sums[i] as number) + (data[start + i] as number) * weight;
  }
}
