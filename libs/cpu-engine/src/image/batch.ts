import type { Work } from '../node-api/work';
import { newImage, pictureLength, type ImageTensor, type Tensor } from './tensor';

/** The pictures of both, one batch after the other. They agree in size and channels. */
export function joinBatches(images: readonly ImageTensor[], first: ImageTensor, work: Work): ImageTensor {
  const batch = images.reduce((total, image) => total + image.batch, 0);
  const result = newImage(work, batch, first, first.channels);
  let at = 0;
  for (const image of images) {
    work.checkpoint();
    result.data.set(image.data, at);
    at += image.data.length;
  }
  return result;
}

/** Pictures `from` up to `from + count` of the batch: a view, not a copy. */
export function sliceBatch<T extends Tensor>(source: T, from: number, count: number): T {
  const length = pictureLength(source);
  return { ...source, batch: count, data: source.data.subarray(from * length, (from + count) * length) };
}

/** A batch of `batch` pictures: the first of a longer one, a shorter one over again from its start. */
export function fitBatch<T extends Tensor>(source: T, batch: number, work: Work): T {
  if (source.batch >= batch) return sliceBatch(source, 0, batch);
  return cycled(source, batch, (index) => index % source.batch, work);
}

/** A batch of at least `batch` pictures: a shorter one goes on with its last picture. */
export function extendBatch<T extends Tensor>(source: T, batch: number, work: Work): T {
  if (source.batch >= batch) return source;
  return cycled(source, batch, (index) => Math.min(index, source.batch - 1), work);
}

function cycled<T extends Tensor>(source: T, batch: number, pick: (index: number) => number, work: Work): T {
  const length = pictureLength(source);
  const data = work.floats(batch * length);
  for (let n = 0; n < batch; n += 1) {
    work.checkpoint();
    const from = pick(n) * length;
    data.set(source.data.subarray(from, from + length), n * length);
  }
  return { ...source, batch, data };
}
