import type { Work } from '../../node-api/work';
import { newLike, rowLength, type Size, type Tensor } from '../tensor';
import type { AxisTaps } from './axis';

const { fround } = Math;

/**
 * Weigh a few source pixels per axis into each output pixel: along rows first, then across them, sums rounded to single
 * precision term by term as torch's kernels have it. Only rows that an output row samples are ever computed; the last
 * few are kept, because the next output row samples most of them again.
 */
export function resizeSeparable<T extends Tensor>(
  source: T,
  target: Size,
  columns: AxisTaps,
  rows: AxisTaps,
  work: Work,
): T {
  const result = newLike(work, source, target);
  const length = rowLength(result);
  const kept = new RowCache(work.floats(rows.taps * length), rows.taps, length);
  for (let n = 0; n < source.batch; n += 1) {
    kept.clear();
    for (let y = 0; y < target.height; y += 1) {
      work.checkpoint();
      const out = result.data.subarray((n * target.height + y) * length, (n * target.height + y + 1) * length);
      for (let tap = 0; tap < rows.taps; tap += 1) {
        const row = rows.indices[y * rows.taps + tap] as number;
        const line = kept.row(row, (into) => alongRow(source, n * source.height + row, columns, into));
        addWeighted(out, line, rows.weights[y * rows.taps + tap] as number, tap === 0);
      }
    }
  }
  return result;
}

/** Source row `row` (counted through the batch), resampled along x. */
function alongRow(source: Tensor, row: number, { taps, indices, weights }: AxisTaps, into: Float32Array): void {
  const { data, channels } = source;
  const from = row * rowLength(source);
  let to = 0;
  for (let at = 0; at < indices.length; at += taps) {
    for (let c = 0; c < channels; c += 1) {
      let sum = fround((data[from + (indices[at] as number) * channels + c] as number) * (weights[at] as number));
      for (let tap = at + 1; tap < at + taps; tap += 1)
        sum = fround(sum + (data[from + (indices[tap] as number) * channels + c] as number) * (weights[tap] as number));
      into[to++] = sum;
    }
  }
}

function addWeighted(out: Float32Array, line: Float32Array, weight: number, first: boolean): void {
  if (first) for (let i = 0; i < out.length; i += 1) out[i] = (line[i] as number) * weight;
  else for (let i = 0; i < out.length; i += 1) out[i] = (out[i] as number) + (line[i] as number) * weight;
}

/** The last few rows computed, by row number. */
class RowCache {
  private readonly numbers: Int32Array;

  constructor(
    private readonly data: Float32Array,
    private readonly slots: number,
    private readonly length: number,
  ) {
    this.numbers = new Int32Array(slots).fill(-1);
  }

  clear(): void {
    this.numbers.fill(-1);
  }

  /** Rows that one output row samples are neighbours, so no two of them share a slot. */
  row(row: number, compute: (into: Float32Array) => void): Float32Array {
    const slot = row % this.slots;
    const line = this.data.subarray(slot * this.length, (slot + 1) * this.length);
    if (this.numbers[slot] !== row) {
      compute(line);
      this.numbers[slot] = row;
    }
    return line;
  }
}
