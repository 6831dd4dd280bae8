import fc from 'fast-check';
import { FREE_WORK, maskOf } from '../../fixtures/test-work';
import { growDiamond, growSquare } from './morphology';
import type { MaskTensor } from './tensor';

const mask = fc
  .record({
    width: fc.integer({ min: 1, max: 9 }),
    height: fc.integer({ min: 1, max: 9 }),
    values: fc.array(fc.constantFrom(0, 0.25, 0.5, 1), { minLength: 81, maxLength: 81 }),
  })
  .map(({ width, height, values }) => maskOf(width, height, values));

/** The extreme of all pixels that are near enough, pixel by pixel. */
function slowly(
  { width, height, data }: MaskTensor,
  steps: number,
  isNear: (dx: number, dy: number) => boolean,
): number[] {
  const pick = steps < 0 ? Math.min : Math.max;
  return Array.from(data, (own, at) => {
    const [x, y] = [at % width, Math.floor(at / width)];
    const near = Array.from(data).filter((_, other) =>
      isNear(Math.abs((other % width) - x), Math.abs(Math.floor(other / width) - y)),
    );
    expect(height * width).toBe(data.length);
    return pick(own, ...near);
  });
}

describe('growing a mask', () => {
  it('spreads by steps along the axes with tapered corners', () => {
    fc.assert(
      fc.property(mask, fc.integer({ min: -12, max: 12 }), (source, steps) => {
        const expected = slowly(source, steps, (dx, dy) => dx + dy <= Math.abs(steps));
        expect(Array.from(growDiamond(source, steps, FREE_WORK).data)).toEqual(expected);
      }),
    );
  });

  it('spreads by a square otherwise', () => {
    fc.assert(
      fc.property(mask, fc.integer({ min: -12, max: 12 }), (source, steps) => {
        const expected = slowly(source, steps, (dx, dy) => Math.max(dx, dy) <= Math.abs(steps));
        expect(Array.from(growSquare(source, steps, FREE_WORK).data)).toEqual(expected);
      }),
    );
  });
});
