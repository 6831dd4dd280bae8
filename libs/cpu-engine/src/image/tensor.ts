import type { Work } from '../node-api/work';

/** Floats in rows: `data[((n * height + y) * width + x) * channels + c]`. Values stand for 0..1 but are not confined to it. */
export interface Tensor {
  readonly batch: number;
  readonly height: number;
  readonly width: number;
  readonly channels: number;
  readonly data: Float32Array;
}

/** A batch of pictures of one size; three channels (RGB) or four (RGB and straight alpha). */
export interface ImageTensor extends Tensor {
  readonly kind: 'IMAGE';
}

/** A batch of masks of one size: 1 is masked (of a picture's alpha: transparent). */
export interface MaskTensor extends Tensor {
  readonly kind: 'MASK';
  readonly channels: 1;
}

export interface Size {
  width: number;
  height: number;
}

/** A black image of the shape. */
export function newImage(work: Work, batch: number, size: Size, channels: number): ImageTensor {
  const { width, height } = size;
  const data = work.floats(batch * height * width * channels);
  return { kind: 'IMAGE', batch, height, width, channels, data };
}

/** An empty mask of the shape. */
export function newMask(work: Work, batch: number, size: Size): MaskTensor {
  const { width, height } = size;
  return { kind: 'MASK', batch, height, width, channels: 1, data: work.floats(batch * height * width) };
}

/** A tensor of the source's kind, batch and channels, in another size. */
export function newLike<T extends Tensor>(work: Work, source: T, size: Size): T {
  const { width, height } = size;
  const data = work.floats(source.batch * height * width * source.channels);
  return { ...source, width, height, data };
}

/** Floats of one row, and of one picture. */
export function rowLength(tensor: Tensor): number {
  return tensor.width * tensor.channels;
}

export function pictureLength(tensor: Tensor): number {
  return tensor.height * tensor.width * tensor.channels;
}

/** The floats of one picture of the batch: a view, not a copy. */
export function pictureOf(tensor: Tensor, index: number): Float32Array {
  const length = pictureLength(tensor);
  return tensor.data.subarray(index * length, (index + 1) * length);
}

export function sameSize(a: Size, b: Size): boolean {
  return a.width === b.width && a.height === b.height;
}

/** `2×64×96×3`: batch, height, width, channels. */
export function shapeText(tensor: Tensor): string {
  const { batch, height, width, channels } = tensor;
  return [batch, height, width, ...(channels === 1 ? [] : [channels])].join('×');
}
