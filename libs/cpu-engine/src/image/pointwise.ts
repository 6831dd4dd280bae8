import { NodeFault } from '../node-api/node-fault';
import type { Work } from '../node-api/work';
import { newLike, pictureOf, rowLength, sameSize, shapeText, type Tensor } from './tensor';

/** Give every place of the tensor this value. */
export function fillTensor(tensor: Tensor, value: number, work: Work): void {
  const row = rowLength(tensor);
  for (let from = 0; from < tensor.data.length; from += row) {
    work.checkpoint();
    tensor.data.fill(value, from, from + row);
  }
}

/** A new tensor of `change(value)`. */
export function mapTensor<T extends Tensor>(source: T, change: (value: number) => number, work: Work): T {
  const result = newLike(work, source, source);
  const row = rowLength(source);
  for (let from = 0; from < source.data.length; from += row) {
    work.checkpoint();
    for (let i = from; i < from + row; i += 1) result.data[i] = change(source.data[i] as number);
  }
  return result;
}

/**
 * A new tensor of `join(a, b)`, in the shape of `a`. A batch of one in `b` serves every picture of `a`.
 *
 * @throws {NodeFault} when the shapes do not allow it.
 */
export function combineTensors<T extends Tensor>(
  a: T,
  b: Tensor,
  join: (a: number, b: number) => number,
  work: Work,
): T {
  if (!sameSize(a, b) || a.channels !== b.channels || (b.batch !== a.batch && b.batch !== 1))
    throw new NodeFault(`Batches of ${shapeText(a)} and ${shapeText(b)} can not be combined; make their shapes agree.`);
  const result = newLike(work, a, a);
  const row = rowLength(a);
  for (let n = 0; n < a.batch; n += 1) {
    const left = pictureOf(a, n);
    const right = pictureOf(b, b.batch === 1 ? 0 : n);
    const out = pictureOf(result, n);
    for (let from = 0; from < out.length; from += row) {
      work.checkpoint();
      for (let i = from; i < from + row; i += 1) out[i] = join(left[i] as number, right[i] as number);
    }
  }
  return result;
}
