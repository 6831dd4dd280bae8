import type { Work } from '../../node-api/work';
import { fromBytes, pictureBytes } from '../bytes';
import { newLike, pictureLength, sameSize, type Size, type Tensor } from '../tensor';
import { premultiply, unpremultiply } from './alpha';

/** Pillow weighs 8-bit pixels with whole numbers of this many fraction bits (libImaging, Resample.c). */
const FRACTION_BITS = 22;
const ONE = 2 ** FRACTION_BITS;
const LOBES = 3;

/** A resampling window per output position: `length` weights from `start` on, at `weights[i * span]`. */
interface Windows {
  span: number;
  starts: Int32Array;
  lengths: Int32Array;
  weights: Int32Array;
}

/**
 * Lanczos with three lobes as the field has it: through 8-bit pictures and Pillow's integer resampling, antialiased when
 * shrinking, along rows first, rounded to 8 bits after either pass; alpha premultiplied meanwhile.
 */
export function resizeLanczos<T extends Tensor>(source: T, target: Size, work: Work): T {
  const result = newLike(work, source, target);
  const length = pictureLength(result);
  for (let n = 0; n < source.batch; n += 1) {
    work.temporarily(() => {
      const picture = pictureBytes(source, n, work);
      const resized = sameSize(source, target) ? picture : resizeBytes(picture, source, target, work);
      fromBytes(resized, result.data.subarray(n * length, (n + 1) * length), work);
    });
  }
  return result;
}

function resizeBytes(picture: Uint8Array, { width, height, channels }: Tensor, target: Size, work: Work): Uint8Array {
  if (channels === 4) premultiply(picture, work);
  const along =
    target.width === width ? picture : resizeRows(picture, height, channels, windowsOf(width, target.width), work);
  const across =
    target.height === height
      ? along
      : resizeColumns(along, target.width * channels, windowsOf(height, target.height), work);
  if (channels === 4) unpremultiply(across, work);
  return across;
}

function windowsOf(input: number, output: number): Windows {
  const scale = input / output;
  const stretch = Math.max(scale, 1);
  const support = LOBES * stretch;
  const span = Math.ceil(support) * 2 + 1;
  const windows = {
    span,
    starts: new Int32Array(output),
    lengths: new Int32Array(output),
    weights: new Int32Array(output * span),
  };
  for (let i = 0; i < output; i += 1) {
    const centre = (i + 0.5) * scale;
    const start = Math.max(0, Math.trunc(centre - support + 0.5));
    const end = Math.min(input, Math.trunc(centre + support + 0.5));
    const weights = Array.from({ length: end - start }, (_, k) => lanczos((start + k - centre + 0.5) / stretch));
    const sum = weights.reduce((total, weight) => total + weight, 0);
    windows.starts[i] = start;
    windows.lengths[i] = end - start;
    windows.weights.set(
      weights.map((weight) => rounded((weight / sum) * ONE)),
      i * span,
    );
  }
  return windows;
}

function lanczos(x: number): number {
  return x >= -LOBES && x < LOBES ? sinc(x) * sinc(x / LOBES) : 0;
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(x * Math.PI) / (x * Math.PI);
}

/** To the nearest whole number, halves away from zero. */
function rounded(x: number): number {
  return Math.trunc(x < 0 ? x - 0.5 : x + 0.5);
}

function resizeRows(picture: Uint8Array, height: number, channels: number, windows: Windows, work: Work): Uint8Array {
  const { span, starts, lengths, weights } = windows;
  const sourceRow = picture.length / height;
  const result = work.bytes(height * starts.length * channels);
  let to = 0;
  for (let y = 0; y < height; y += 1) {
    work.checkpoint();
    for (let x = 0; x < starts.length; x += 1) {
      const from = y * sourceRow + (starts[x] as number) * channels;
      for (let c = 0; c < channels; c += 1) {
        let sum = ONE / 2;
        for (let k = 0; k < (lengths[x] as number); k += 1)
          sum += (picture[from + k * channels + c] as number) * (weights[x * span + k] as number);
        result[to++] = clamped(sum);
      }
    }
  }
  return result;
}

function resizeColumns(picture: Uint8Array, row: number, windows: Windows, work: Work): Uint8Array {
  const { span, starts, lengths, weights } = windows;
  const result = work.bytes(starts.length * row);
  const sums = new Float64Array(row);
  for (let y = 0; y < starts.length; y += 1) {
    work.checkpoint();
    sums.fill(ONE / 2);
    for (let k = 0; k < (lengths[y] as number); k += 1) {
      const weight = weights[y * span + k] as number;
      const from = ((starts[y] as number) + k) * row;
      for (let x = 0; x < row; x += 1) sums[x] = (sums[x] as number) + (picture[from + x] as number) * weight;
    }
    for (let x = 0; x < row; x += 1) result[y * row + x] = clamped(sums[x] as number);
  }
  return result;
}

function clamped(sum: number): number {
  const value = Math.floor(sum / ONE);
  return value < 0 ? 0 : value > 255 ? 255 : value;
}
