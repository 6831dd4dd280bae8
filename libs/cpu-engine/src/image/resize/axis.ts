/**
 * Where an output pixel samples its source along one axis, as torch's `interpolate` has it with `align_corners=False`: the
 * middle of output i lies at (i + 0.5) * input / output - 0.5. In single precision like there: whole pixels hang on the
 * rounding where the ratio is not a binary fraction.
 */
export function sourceCentre(index: number, scale: number): number {
  return Math.fround(scale * (index + 0.5) - 0.5);
}

export function axisScale(input: number, output: number): number {
  return Math.fround(input / output);
}

/** Per output position: the source positions sampled (`taps` of them, neighbours) and their weights, in order of addition. */
export interface AxisTaps {
  taps: number;
  /** `indices[i * taps + t]`, clamped to the axis. */
  indices: Int32Array;
  weights: Float32Array;
}
