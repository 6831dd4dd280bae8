import type { Work } from '../node-api/work';
import { convolve, convolveSeparably } from './convolve';
import { gaussianKernel, singleSum } from './gaussian-kernel';
import { combineTensors } from './pointwise';
import type { Tensor } from './tensor';

const { fround } = Math;

/**
 * Up to so many products a kernel is applied whole, which agrees with torch to the bit; beyond, axis by axis. About a second
 * of one core.
 */
const MAX_WHOLE_PRODUCTS = 1e9;

/**
 * The field's Gaussian blur; see `gaussianKernel` for its measure of sigma.
 *
 * @throws {NodeFault} when the picture is not larger than the radius.
 */
export function gaussianBlur<T extends Tensor>(source: T, radius: number, sigma: number, work: Work): T {
  if (isSmall(source, radius)) return convolve(source, gaussianKernel(radius, sigma), radius, work);
  return convolveSeparably(source, gaussianAxis(radius, sigma), work);
}

/**
 * The field's sharpening: `amount` times the difference between the picture and its blur is added to it, all in one
 * kernel. The result is not held to 0..1.
 *
 * @throws {NodeFault} when the picture is not larger than the radius.
 */
export function gaussianSharpen<T extends Tensor>(
  source: T,
  radius: number,
  sigma: number,
  amount: number,
  work: Work,
): T {
  if (isSmall(source, radius)) return convolve(source, sharpeningKernel(radius, sigma, amount), radius, work);
  const blurred = convolveSeparably(source, gaussianAxis(radius, sigma), work);
  return combineTensors(source, blurred, (value, soft) => value + amount * (value - soft), work);
}

function isSmall({ data }: Tensor, radius: number): boolean {
  return data.length * (2 * radius + 1) ** 2 <= MAX_WHOLE_PRODUCTS;
}

/** Minus `amount` times the blur, and in the middle what brings the sum to 1. */
function sharpeningKernel(radius: number, sigma: number, amount: number): Float32Array {
  const factor = fround(-amount);
  const kernel = gaussianKernel(radius, sigma).map((weight) => weight * factor);
  const centre = (kernel.length - 1) / 2;
  kernel[centre] = fround((kernel[centre] as number) - singleSum(kernel)) + 1;
  return kernel;
}

/** One axis of the kernel, in double precision. */
function gaussianAxis(radius: number, sigma: number): Float64Array {
  const weights = Float64Array.from({ length: 2 * radius + 1 }, (_, i) =>
    Math.exp(-(((i - radius) / radius) ** 2) / (2 * sigma * sigma)),
  );
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}
