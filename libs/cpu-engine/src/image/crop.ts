import type { Work } from '../node-api/work';
import { newLike, rowLength, type Size, type Tensor } from './tensor';

interface Region extends Size {
  x: number;
  y: number;
}

/** Copy a region that lies within the picture. */
export function cropTensor<T extends Tensor>(source: T, region: Region, work: Work): T {
  const result = newLike(work, source, { width: region.width, height: region.height });
  const length = rowLength(result);
  const sourceRow = rowLength(source);
  for (let n = 0; n < source.batch; n += 1) {
    work.checkpoint();
    for (let y = 0; y < region.height; y += 1) {
      const from = (n * source.height + region.y + y) * sourceRow + region.x * source.channels;
      result.data.set(source.data.subarray(from, from + length), (n * region.height + y) * length);
    }
  }
  return result;
}

/**
 * The part of `region` that lies within the picture, as slicing has it. Its sides may be 0.
 */
export function clippedRegion(source: Size, region: Region): Region {
  const x = Math.min(region.x, source.width);
  const y = Math.min(region.y, source.height);
  return { x, y, width: Math.min(region.width, source.width - x), height: Math.min(region.height, source.height - y) };
}
