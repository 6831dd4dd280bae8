const { fround } = Math;

type Blend = (under: number, over: number) => number;

/**
 * The colour of two pixels' channels blended whole, rounded to single precision after every operation as torch does. The
 * formulas are those of the W3C's "Compositing and Blending" save that `difference` keeps its sign.
 */
export const BLEND_MODES = {
  normal: (_under, over) => over,
  multiply: (under, over) => fround(under * over),
  screen: (under, over) => fround(1 - fround(fround(1 - under) * fround(1 - over))),
  overlay: (under, over) =>
    under <= 0.5
      ? fround(fround(2 * under) * over)
      : fround(1 - fround(fround(2 * fround(1 - under)) * fround(1 - over))),
  soft_light: (under, over) =>
    over <= 0.5
      ? fround(under - fround(fround(fround(1 - fround(2 * over)) * under) * fround(1 - under)))
      : fround(under + fround(fround(fround(2 * over) - 1) * fround(lightened(under) - under))),
  difference: (under, over) => fround(under - over),
} satisfies Record<string, Blend>;

function lightened(x: number): number {
  return x <= 0.25 ? fround(fround(fround(fround(fround(16 * x) - 12) * x) + 4) * x) : fround(Math.sqrt(x));
}
