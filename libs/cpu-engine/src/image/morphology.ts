import type { Work } from '../node-api/work';
import { mapTensor } from './pointwise';
import { newLike, pictureOf, type MaskTensor } from './tensor';

/**
 * Grey dilation by `steps` of a plus-shaped neighbourhood: each pixel becomes the largest within that many steps along
 * the axes. Negative steps erode: the smallest. Beyond the edges lies nothing.
 */
export function growDiamond(mask: MaskTensor, steps: number, work: Work): MaskTensor {
  return eroding(mask, steps, work, (source, count) => {
    let current = newLike(work, source, source);
    current.data.set(source.data);
    let next = newLike(work, source, source);
    for (let step = 0; step < count; step += 1) {
      if (!growPlus(current, next, work)) break;
      [current, next] = [next, current];
    }
    return current;
  });
}

/** The same with a square neighbourhood: the largest value within `steps` pixels in both directions. */
export function growSquare(mask: MaskTensor, steps: number, work: Work): MaskTensor {
  return eroding(mask, steps, work, (source, count) => {
    const result = newLike(work, source, source);
    result.data.set(source.data);
    const { width, height } = source;
    const line = new Line(Math.max(width, height));
    for (let n = 0; n < source.batch; n += 1) {
      const picture = pictureOf(result, n);
      for (let y = 0; y < height; y += 1) {
        work.checkpoint();
        line.slideMaximum(picture, y * width, 1, width, count);
      }
      for (let x = 0; x < width; x += 1) {
        work.checkpoint();
        line.slideMaximum(picture, x, width, height, count);
      }
    }
    return result;
  });
}

/** Room for one line of a picture and for a queue of its falling values. */
class Line {
  private readonly values: Float32Array;
  private readonly queue: Int32Array;

  constructor(length: number) {
    this.values = new Float32Array(length);
    this.queue = new Int32Array(length);
  }

  /** Each of `length` values from `start`, `stride` apart, becomes the largest within `reach` of it. Linear in `length`. */
  slideMaximum(data: Float32Array, start: number, stride: number, length: number, reach: number): void {
    const { values, queue } = this;
    for (let i = 0; i < length; i += 1) values[i] = data[start + i * stride] as number;
    let [head, tail, seen] = [0, 0, 0];
    for (let i = 0; i < length; i += 1) {
      for (; seen < length && seen <= i + reach; seen += 1) {
        while (tail > head && (values[queue[tail - 1] as number] as number) <= (values[seen] as number)) tail -= 1;
        queue[tail++] = seen;
      }
      while ((queue[head] as number) < i - reach) head += 1;
      data[start + i * stride] = values[queue[head] as number] as number;
    }
  }
}

/** Erosion is dilation of the opposite. */
function eroding(
  mask: MaskTensor,
  steps: number,
  work: Work,
  grow: (mask: MaskTensor, steps: number) => MaskTensor,
): MaskTensor {
  if (steps === 0) return mask;
  if (steps > 0) return grow(mask, steps);
  const opposite = mapTensor(mask, (value) => -value, work);
  return mapTensor(grow(opposite, -steps), (value) => -value, work);
}

/** One step into `next`; false if nothing grew. */
function growPlus({ data, batch, width, height }: MaskTensor, next: MaskTensor, work: Work): boolean {
  let grew = false;
  for (let line = 0; line < batch * height; line += 1) {
    work.checkpoint();
    const from = line * width;
    const above = line % height === 0 ? from : from - width;
    const below = line % height === height - 1 ? from : from + width;
    for (let x = 0; x < width; x += 1) {
      const own = data[from + x] as number;
      let best = own;
      if ((data[above + x] as number) > best) best = data[above + x] as number;
      if ((data[below + x] as number) > best) best = data[below + x] as number;
      if (x > 0 && (data[from + x - 1] as number) > best) best = data[from + x - 1] as number;
      if (x < width - 1 && (data[from + x + 1] as number) > best) best = data[from + x + 1] as number;
      next.data[from + x] = best;
      grew ||= best !== own;
    }
  }
  return grew;
}
