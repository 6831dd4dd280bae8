import fc from 'fast-check';
import { PORTER_DUFF_MODE_NAMES, porterDuffMode, type PorterDuffModeName } from './porter-duff-modes';

const unit = fc.float({ min: 0, max: 1, noNaN: true });

/** Colour (premultiplied) and alpha of a pixel of `source` over one of `destination`. */
function composed(name: PorterDuffModeName, [s, sa]: [number, number], [d, da]: [number, number]): [number, number] {
  const { colour, alpha } = porterDuffMode(name);
  const f = Math.fround;
  return [colour(f(s * sa), f(d * da), sa, da), alpha(sa, da)];
}

/** Pairs that are one another with source and destination exchanged. */
const MIRRORED = [
  ['SRC', 'DST'],
  ['SRC_OVER', 'DST_OVER'],
  ['SRC_IN', 'DST_IN'],
  ['SRC_OUT', 'DST_OUT'],
  ['SRC_ATOP', 'DST_ATOP'],
  ['XOR', 'XOR'],
  ['ADD', 'ADD'],
  ['MULTIPLY', 'MULTIPLY'],
  ['SCREEN', 'SCREEN'],
  ['DARKEN', 'DARKEN'],
  ['LIGHTEN', 'LIGHTEN'],
] as const;

describe('the Porter-Duff operators', () => {
  it.each(MIRRORED)('%s is %s with the pictures exchanged', (one, other) => {
    fc.assert(
      fc.property(unit, unit, unit, unit, (s, sa, d, da) => {
        const [colour, alpha] = composed(one, [s, sa], [d, da]);
        const [otherColour, otherAlpha] = composed(other, [d, da], [s, sa]);
        expect(colour).toBeCloseTo(otherColour, 5);
        expect(alpha).toBeCloseTo(otherAlpha, 5);
      }),
    );
  });

  it('show the source alone where it is opaque and laid over', () => {
    fc.assert(
      fc.property(unit, unit, unit, (s, d, da) => {
        expect(composed('SRC_OVER', [s, 1], [d, da])).toEqual([s, 1]);
      }),
    );
  });

  it('show the destination alone where the source is empty, if they keep it', () => {
    fc.assert(
      fc.property(unit, unit, unit, (s, d, da) => {
        const kept = composed('DST', [s, 0], [d, da]);
        for (const name of ['SRC_OVER', 'DST_OVER', 'DST_OUT', 'SRC_ATOP', 'XOR', 'ADD', 'SCREEN', 'DARKEN'] as const)
          expect(composed(name, [s, 0], [d, da])).toEqual([expect.closeTo(kept[0], 5), expect.closeTo(kept[1], 5)]);
      }),
    );
  });

  it.each(PORTER_DUFF_MODE_NAMES)('%s keeps alpha between 0 and 1', (name) => {
    fc.assert(
      fc.property(unit, unit, unit, unit, (s, sa, d, da) => {
        const [, alpha] = composed(name, [s, sa], [d, da]);
        expect(alpha).toBeGreaterThanOrEqual(-1e-6);
        expect(alpha).toBeLessThanOrEqual(1 + 1e-6);
      }),
    );
  });
});
