import type { Work } from '../../node-api/work';
import type { Size, Tensor } from '../tensor';
import { axisScale, sourceCentre, type AxisTaps } from './axis';
import { resizeSeparable } from './separable';

const { fround } = Math;

/** torch's `bicubic` without antialiasing: four pixels per axis, edge pixels repeated, overshoot left as it is. */
export function resizeBicubic<T extends Tensor>(source: T, target: Size, work: Work): T {
  const columns = cubicTaps(source.width, target.width);
  const rows = cubicTaps(source.height, target.height);
  return resizeSeparable(source, target, columns, rows, work);
}

/** The second pixel comes first: so the sums are rounded as torch's fused operations round them. */
function cubicTaps(input: number, output: number): AxisTaps {
  const scale = axisScale(input, output);
  const indices = new Int32Array(output * 4);
  const weights = new Float32Array(output * 4);
  for (let i = 0; i < output; i += 1) {
    const centre = sourceCentre(i, scale);
    const first = Math.floor(centre);
    const t = fround(centre - first);
    const rest = fround(1 - t);
    const at = (tap: number): number => Math.min(Math.max(first - 1 + tap, 0), input - 1);
    indices.set([at(1), at(0), at(2), at(3)], i * 4);
    weights.set([near(t), far(fround(t + 1)), near(rest), far(fround(rest + 1))], i * 4);
  }
  return { taps: 4, indices, weights };
}

// Cubic convolution (R. Keys, "Cubic convolution interpolation for digital image processing", 1981) with its free parameter
// at -0.75, rounded to single precision where torch rounds.

/** For distances up to 1: ((a + 2) x - (a + 3)) x x + 1. */
function near(x: number): number {
  return fround(fround(fround(fround(fround(1.25 * x) - 2.25) * x) * x) + 1);
}

/** For distances from 1 to 2: ((a x - 5 a) x + 8 a) x - 4 a. */
function far(x: number): number {
  return fround(fround(fround(fround(-0.75 * x + 3.75) * x - 6) * x) + 3);
}
