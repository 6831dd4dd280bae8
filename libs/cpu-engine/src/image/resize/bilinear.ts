import type { Work } from '../../node-api/work';
import { newLike, rowLength, type Size, type Tensor } from '../tensor';
import { axisScale, sourceCentre, type AxisTaps } from './axis';
import { resizeSeparable } from './separable';

const { fround } = Math;

/** Up to this half perimeter, and for four channels, torch multiplies the weights of the axes first. */
const SMALL_HALF_PERIMETER = 128;

/**
 * torch's `bilinear` without antialiasing: the two nearest pixels per axis, however much the picture shrinks. Which of
 * two orders of rounding torch takes depends on the size; both are followed, so that flat areas come out to the bit.
 */
export function resizeBilinear<T extends Tensor>(source: T, target: Size, work: Work): T {
  const columns = linearTaps(source.width, target.width);
  const rows = linearTaps(source.height, target.height);
  if (source.channels < 4 && target.width + target.height > SMALL_HALF_PERIMETER)
    return resizeSeparable(source, target, columns, rows, work);
  return resizeByProducts(source, target, columns, rows, work);
}

/** The nearer-to-the-end pixel comes first: so the sums are rounded as torch's fused operations round them. */
function linearTaps(input: number, output: number): AxisTaps {
  const scale = axisScale(input, output);
  const indices = new Int32Array(output * 2);
  const weights = new Float32Array(output * 2);
  for (let i = 0; i < output; i += 1) {
    const centre = Math.max(0, sourceCentre(i, scale));
    const first = Math.min(Math.trunc(centre), input - 1);
    const fraction = Math.min(Math.max(fround(centre - first), 0), 1);
    indices.set([Math.min(first + 1, input - 1), first], i * 2);
    weights.set([fraction, 1 - fraction], i * 2);
  }
  return { taps: 2, indices, weights };
}

function resizeByProducts<T extends Tensor>(source: T, target: Size, columns: AxisTaps, rows: AxisTaps, work: Work): T {
  const result = newLike(work, source, target);
  const { data, channels } = source;
  const row = rowLength(source);
  let to = 0;
  for (let n = 0; n < source.batch; n += 1) {
    for (let y = 0; y < rows.indices.length; y += 2) {
      work.checkpoint();
      const low = (n * source.height + (rows.indices[y] as number)) * row;
      const high = (n * source.height + (rows.indices[y + 1] as number)) * row;
      for (let x = 0; x < columns.indices.length; x += 2) {
        const right = (columns.indices[x] as number) * channels;
        const left = (columns.indices[x + 1] as number) * channels;
        const highRight = fround((rows.weights[y + 1] as number) * (columns.weights[x] as number));
        const highLeft = fround((rows.weights[y + 1] as number) * (columns.weights[x + 1] as number));
        const lowLeft = fround((rows.weights[y] as number) * (columns.weights[x + 1] as number));
        const lowRight = fround((rows.weights[y] as number) * (columns.weights[x] as number));
        for (let c = 0; c < channels; c += 1) {
          let sum = fround((data[high + right + c] as number) * highRight);
          sum = fround(sum + (data[high + left + c] as number) * highLeft);
          sum = fround(sum + (data[low + left + c] as number) * lowLeft);
          result.data[to++] = sum + (data[low + right + c] as number) * lowRight;
        }
      }
    }
  }
  return result;
}
