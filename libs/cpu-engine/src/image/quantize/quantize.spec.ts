import fc from 'fast-check';
import { FREE_WORK } from '../../../fixtures/test-work';
import { bayer, diffuse, snap, type Pixels } from './dither';
import { medianCutPalette } from './median-cut';
import { Palette } from './palette';

const pixels = fc
  .tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 12 }))
  .chain(([width, height]) =>
    fc
      .uint8Array({ minLength: width * height * 3, maxLength: width * height * 3 })
      .map((data) => ({ width, height, data })),
  );

function coloursOf(data: Uint8Array): Set<number> {
  const colours = new Set<number>();
  for (let at = 0; at < data.length; at += 3)
    colours.add(((data[at] as number) << 16) | ((data[at + 1] as number) << 8) | (data[at + 2] as number));
  return colours;
}

/** 300 × 300 pixels of as many colours. */
function everyColour(): Pixels {
  const data = new Uint8Array(270_000);
  for (let i = 0; i < 90_000; i += 1) data.set([i & 0xff, i >> 8, (i * 7) & 0xff], i * 3);
  return { width: 300, height: 300, data };
}

describe('quantising', () => {
  it('makes a palette of no more colours than asked for, and all of them if there are no more', () => {
    fc.assert(
      fc.property(pixels, fc.integer({ min: 1, max: 256 }), ({ data }, size) => {
        const palette = coloursOf(medianCutPalette(data, size, FREE_WORK));
        const colours = coloursOf(data);
        expect(palette.size).toBeLessThanOrEqual(size);
        if (colours.size <= size) expect(palette).toEqual(colours);
      }),
    );
  });

  it.each(['snap', 'diffuse', 'bayer'])('gives every pixel a colour of the palette by %s', (way) => {
    fc.assert(
      fc.property(pixels, fc.integer({ min: 1, max: 32 }), (picture, size) => {
        const palette = new Palette(medianCutPalette(picture.data, size, FREE_WORK));
        const result = { snap, diffuse, bayer: (p: Pixels, q: Palette) => bayer(p, q, 4, FREE_WORK) }[
          way as 'snap' | 'diffuse' | 'bayer'
        ](picture, palette, FREE_WORK);
        const allowed = coloursOf(palette.colours);
        for (const colour of coloursOf(result)) expect(allowed.has(colour)).toBe(true);
      }),
    );
  });

  it('keeps the mean of a grey between two colours by error diffusion', () => {
    const picture = { width: 40, height: 40, data: new Uint8Array(4800).fill(100) };
    const result = diffuse(picture, new Palette(Uint8Array.from([0, 0, 0, 255, 255, 255])), FREE_WORK);
    expect(result.reduce((sum, value) => sum + value, 0) / result.length).toBeCloseTo(100, -1);
  });

  it('takes pictures of more colours than are counted one by one', () => {
    const { data } = everyColour();
    expect(coloursOf(medianCutPalette(data, 64, FREE_WORK)).size).toBe(64);
  });
});
