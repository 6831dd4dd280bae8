import type { Work } from '../node-api/work';
import { pictureLength, pictureOf, rowLength, type Tensor } from './tensor';

const CHECK_EVERY = 1 << 18;

/**
 * One picture as 8-bit samples the way the field saves it: times 255 in single precision, cut off (not rounded), held to
 * 0..255. What came from 8 bits goes back to the same 8 bits. NaN becomes 0.
 */
export function pictureBytes(tensor: Tensor, index: number, work: Work): Uint8Array {
  const bytes = work.bytes(pictureLength(tensor));
  const floats = pictureOf(tensor, index);
  const row = rowLength(tensor);
  for (let from = 0; from < bytes.length; from += row) {
    work.checkpoint();
    toBytes(floats.subarray(from, from + row), bytes.subarray(from, from + row));
  }
  return bytes;
}

function toBytes(floats: Float32Array, bytes: Uint8Array): void {
  for (let i = 0; i < bytes.length; i += 1) {
    const value = Math.fround(255 * (floats[i] as number));
    bytes[i] = value > 0 ? (value < 255 ? value : 255) : 0;
  }
}

/** 8-bit samples as floats: v / 255. */
export function fromBytes(bytes: Uint8Array, floats: Float32Array, work: Work): void {
  for (let i = 0; i < bytes.length; i += 1) {
    if (i % CHECK_EVERY === 0) work.checkpoint();
    floats[i] = (bytes[i] as number) / 255;
  }
}
