import type { Work } from '../node-api/work';
import { rowLength, type Tensor } from './tensor';

/** Copy `source` into `target` at a place where it fits whole. They agree in batch and channels. */
export function paste(target: Tensor, source: Tensor, place: { x: number; y: number }, work: Work): void {
  const length = rowLength(source);
  const targetRow = rowLength(target);
  for (let n = 0; n < source.batch; n += 1) {
    work.checkpoint();
    for (let y = 0; y < source.height; y += 1) {
      const from = (n * source.height + y) * length;
      const to = (n * target.height + place.y + y) * targetRow + place.x * target.channels;
      target.data.set(source.data.subarray(from, from + length), to);
    }
  }
}
