import type { Work } from '../../node-api/work';
import { cropTensor } from '../crop';
import { roundHalfEven } from '../../python/round';
import { sameSize, type Size, type Tensor } from '../tensor';
import { NodeFault } from '../../node-api/node-fault';
import { resizeArea } from './area';
import { resizeBicubic } from './bicubic';
import { resizeBilinear } from './bilinear';
import { resizeLanczos } from './lanczos';
import { resizeNearest } from './nearest';

const METHODS = {
  'nearest-exact': resizeNearest,
  bilinear: resizeBilinear,
  area: resizeArea,
  bicubic: resizeBicubic,
  lanczos: resizeLanczos,
};
export type ResizeMethod = keyof typeof METHODS;

/**
 * Scale to exactly `target`. To its own size a picture scales as it is, except by way of 8 bits (`lanczos`).
 *
 * @throws {NodeFault} when a side of the target is 0.
 */
export function resize<T extends Tensor>(source: T, target: Size, method: ResizeMethod, work: Work): T {
  if (target.width < 1 || target.height < 1)
    throw new NodeFault(
      `The result would be ${target.width}×${target.height} pixels; ask for at least one pixel on either side.`,
    );
  if (method !== 'lanczos' && sameSize(source, target)) return source;
  return METHODS[method](source, target, work);
}

/** Scale to fill `target`, cutting what sticks out off both sides evenly, so that proportions are kept. */
export function resizeToFill<T extends Tensor>(source: T, target: Size, method: ResizeMethod, work: Work): T {
  const have = source.width / source.height;
  const want = target.width / target.height;
  const x = have > want ? roundHalfEven((source.width - source.width * (want / have)) / 2) : 0;
  const y = have < want ? roundHalfEven((source.height - source.height * (have / want)) / 2) : 0;
  const size = { width: source.width - 2 * x, height: source.height - 2 * y };
  return resize(x === 0 && y === 0 ? source : cropTensor(source, { x, y, ...size }, work), target, method, work);
}
