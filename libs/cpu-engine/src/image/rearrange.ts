import type { Work } from '../node-api/work';
import { newLike, pictureOf, type Size, type Tensor } from './tensor';

/** Move whole pixels: the one at (x, y) of the result is pixel number `from(x, y)` of the source picture. */
export function rearrange<T extends Tensor>(
  source: T,
  size: Size,
  from: (x: number, y: number) => number,
  work: Work,
): T {
  const result = newLike(work, source, size);
  const { channels } = source;
  for (let n = 0; n < source.batch; n += 1) {
    const input = pictureOf(source, n);
    const out = pictureOf(result, n);
    let to = 0;
    for (let y = 0; y < size.height; y += 1) {
      work.checkpoint();
      for (let x = 0; x < size.width; x += 1) {
        const at = from(x, y) * channels;
        for (let c = 0; c < channels; c += 1) out[to++] = input[at + c] as number;
      }
    }
  }
  return result;
}
