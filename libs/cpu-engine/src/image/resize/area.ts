import type { Work } from '../../node-api/work';
import { newLike, rowLength, type Size, type Tensor } from '../tensor';

const { fround } = Math;

/**
 * torch's `area` (adaptive average pooling): output i is the plain mean of source pixels floor(i * in / out) up to
 * ceil((i + 1) * in / out), so windows overlap where the ratio is not whole.
 */
export function resizeArea<T extends Tensor>(source: T, target: Size, work: Work): T {
  const result = newLike(work, source, target);
  const { channels, data } = source;
  const sourceRow = rowLength(source);
  let to = 0;
  for (let n = 0; n < source.batch; n += 1) {
    for (let y = 0; y < target.height; y += 1) {
      work.checkpoint();
      const top = windowStart(y, source.height, target.height);
      const bottom = windowEnd(y, source.height, target.height);
      for (let x = 0; x < target.width; x += 1) {
        const left = windowStart(x, source.width, target.width) * channels;
        const right = windowEnd(x, source.width, target.width) * channels;
        for (let c = 0; c < channels; c += 1) {
          let sum = 0;
          for (let row = n * source.height + top; row < n * source.height + bottom; row += 1)
            for (let at = left + c; at < right; at += channels)
              sum = fround(sum + (data[row * sourceRow + at] as number));
          result.data[to++] = fround(sum / (bottom - top)) / ((right - left) / channels);
        }
      }
    }
  }
  return result;
}

function windowStart(index: number, input: number, output: number): number {
  return Math.floor((index * input) / output);
}

function windowEnd(index: number, input: number, output: number): number {
  return Math.ceil(((index + 1) * input) / output);
}
