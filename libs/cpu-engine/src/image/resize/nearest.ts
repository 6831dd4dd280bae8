import type { Work } from '../../node-api/work';
import { newLike, rowLength, type Size, type Tensor } from '../tensor';
import { axisScale, sourceCentre } from './axis';

/** torch's `nearest-exact`: the source pixel whose area holds the middle of the output pixel. */
export function resizeNearest<T extends Tensor>(source: T, target: Size, work: Work): T {
  const result = newLike(work, source, target);
  const { channels } = source;
  const columns = nearestIndices(source.width, target.width);
  const rows = nearestIndices(source.height, target.height);
  const sourceRow = rowLength(source);
  let to = 0;
  for (let n = 0; n < source.batch; n += 1) {
    for (const row of rows) {
      work.checkpoint();
      const from = (n * source.height + row) * sourceRow;
      for (const column of columns) {
        const at = from + column * channels;
        for (let c = 0; c < channels; c += 1) result.data[to++] = source.data[at + c] as number;
      }
    }
  }
  return result;
}

function nearestIndices(input: number, output: number): Int32Array {
  const scale = axisScale(input, output);
  return Int32Array.from({ length: output }, (_, i) =>
    Math.min(Math.floor(Math.fround(Math.max(0, sourceCentre(i, scale)) + 0.5)), input - 1),
  );
}
