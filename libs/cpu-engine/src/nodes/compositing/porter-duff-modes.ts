const { fround } = Math;

/** One channel of the two pixels, premultiplied by their alphas, and the alphas. */
type Compose = (source: number, destination: number, sourceAlpha: number, destinationAlpha: number) => number;

interface PorterDuffMode {
  colour: Compose;
  alpha: (source: number, destination: number) => number;
}

/** a * b, a + b and 1 - a in single precision, as torch reckons. */
const times = (a: number, b: number): number => fround(a * b);
const plus = (a: number, b: number): number => fround(a + b);
const rest = (a: number): number => fround(1 - a);
const both = (source: number, destination: number): number =>
  fround(plus(source, destination) - times(source, destination));
const clamped = (a: number): number => Math.min(Math.max(a, 0), 1);
/** What each of the two shows where the other is not. */
const apart: Compose = (s, d, sa, da) => plus(times(rest(da), s), times(rest(sa), d));

/**
 * The compositing operators of Porter and Duff, "Compositing digital images" (1984), and the blend modes that go by the
 * same enumeration in the field (Android's `PorterDuff.Mode`).
 */
const PORTER_DUFF_MODES = {
  ADD: { alpha: (sa, da) => clamped(plus(sa, da)), colour: (s, d) => clamped(plus(s, d)) },
  CLEAR: { alpha: () => 0, colour: () => 0 },
  DARKEN: { alpha: both, colour: (s, d, sa, da) => plus(apart(s, d, sa, da), Math.min(s, d)) },
  DST: { alpha: (_sa, da) => da, colour: (_s, d) => d },
  DST_ATOP: { alpha: (sa) => sa, colour: (s, d, sa, da) => plus(times(sa, d), times(rest(da), s)) },
  DST_IN: { alpha: times, colour: (_s, d, sa) => times(d, sa) },
  DST_OUT: { alpha: (sa, da) => times(rest(sa), da), colour: (_s, d, sa) => times(rest(sa), d) },
  DST_OVER: {
    alpha: (sa, da) => plus(da, times(rest(da), sa)),
    colour: (s, d, _sa, da) => plus(d, times(rest(da), s)),
  },
  LIGHTEN: { alpha: both, colour: (s, d, sa, da) => plus(apart(s, d, sa, da), Math.max(s, d)) },
  MULTIPLY: { alpha: times, colour: times },
  OVERLAY: {
    alpha: both,
    colour: (s, d, sa, da) =>
      fround(2 * d) < da
        ? times(fround(2 * s), d)
        : fround(times(sa, da) - times(fround(2 * fround(da - s)), fround(sa - d))),
  },
  SCREEN: { alpha: both, colour: both },
  SRC: { alpha: (sa) => sa, colour: (s) => s },
  SRC_ATOP: { alpha: (_sa, da) => da, colour: (s, d, sa, da) => plus(times(da, s), times(rest(sa), d)) },
  SRC_IN: { alpha: times, colour: (s, _d, _sa, da) => times(s, da) },
  SRC_OUT: { alpha: (sa, da) => times(rest(da), sa), colour: (s, _d, _sa, da) => times(rest(da), s) },
  SRC_OVER: {
    alpha: (sa, da) => plus(sa, times(rest(sa), da)),
    colour: (s, d, sa) => plus(s, times(rest(sa), d)),
  },
  XOR: { alpha: (sa, da) => plus(times(rest(da), sa), times(rest(sa), da)), colour: apart },
} satisfies Record<string, PorterDuffMode>;

export type PorterDuffModeName = keyof typeof PORTER_DUFF_MODES;

/** In the order in which the node offers them. */
export const PORTER_DUFF_MODE_NAMES = Object.keys(PORTER_DUFF_MODES) as PorterDuffModeName[];

export function porterDuffMode(name: PorterDuffModeName): PorterDuffMode {
  return PORTER_DUFF_MODES[name];
}
