import fc from 'fast-check';
import { FREE_WORK, imageOf } from '../../../fixtures/test-work';
import type { Size } from '../tensor';
import { resize, resizeToFill, type ResizeMethod } from './resize';

const METHODS: ResizeMethod[] = ['nearest-exact', 'bilinear', 'area', 'bicubic', 'lanczos'];

const side = fc.integer({ min: 1, max: 40 });
const size = fc.record({ width: side, height: side });
const level = fc.integer({ min: 0, max: 255 });

function levelsOf(data: Float32Array): number[] {
  return Array.from(data, (value) => Math.round(value * 255));
}

describe.each(METHODS)('resizing by %s', (method) => {
  it('leaves a flat picture flat', () => {
    fc.assert(
      fc.property(size, size, level, (from, to: Size, value) => {
        const result = resize(imageOf(from.width, from.height, 3, [value]), to, method, FREE_WORK);
        expect(result).toMatchObject(to);
        expect(new Set(levelsOf(result.data))).toEqual(new Set([value]));
      }),
    );
  });

  it('leaves a picture of the same size as it is', () => {
    fc.assert(
      fc.property(size, fc.array(level, { minLength: 1 }), ({ width, height }, levels) => {
        const image = imageOf(width, height, 3, levels);
        expect(resize(image, { width, height }, method, FREE_WORK).data).toEqual(image.data);
      }),
    );
  });

  it('treats rows and columns alike', () => {
    // Lanczos rounds to 8 bits between the two passes.
    const slack = (method === 'lanczos' ? 2.01 : 0.01) / 255;
    const image = imageOf(3, 5, 1, [100, 110, 125, 118, 104, 111]);
    const turned = imageOf(5, 3, 1, []);
    for (let y = 0; y < 5; y += 1)
      for (let x = 0; x < 3; x += 1) turned.data[x * 5 + y] = image.data[y * 3 + x] as number;
    const one = resize(image, { width: 7, height: 2 }, method, FREE_WORK);
    const two = resize(turned, { width: 2, height: 7 }, method, FREE_WORK);
    for (let y = 0; y < 2; y += 1)
      for (let x = 0; x < 7; x += 1)
        expect(Math.abs((one.data[y * 7 + x] as number) - (two.data[x * 2 + y] as number))).toBeLessThan(slack);
  });

  it('refuses a picture without pixels, naming the size', () => {
    const image = imageOf(4, 4, 3, [1]);
    expect(() => resize(image, { width: 0, height: 3 }, method, FREE_WORK)).toThrow(/0×3 pixels; ask for at least one/);
  });
});

describe('resizing', () => {
  it('takes whole blocks of pixels together by area, and undoes enlarging by whole factors', () => {
    const image = imageOf(2, 2, 1, [0, 100, 200, 50]);
    expect(levelsOf(resize(image, { width: 1, height: 1 }, 'area', FREE_WORK).data)).toEqual([88]);
    const large = resize(image, { width: 6, height: 6 }, 'nearest-exact', FREE_WORK);
    expect(resize(large, { width: 2, height: 2 }, 'area', FREE_WORK).data).toEqual(image.data);
  });

  it('mixes the two neighbours by distance when bilinear', () => {
    const image = imageOf(2, 1, 1, [0, 255]);
    expect(Array.from(resize(image, { width: 4, height: 1 }, 'bilinear', FREE_WORK).data)).toEqual([0, 0.25, 0.75, 1]);
  });

  it('overshoots an edge when bicubic, and leaves it so', () => {
    const image = imageOf(6, 1, 1, [0, 0, 0, 255, 255, 255]);
    const { data } = resize(image, { width: 12, height: 1 }, 'bicubic', FREE_WORK);
    expect(Math.min(...data)).toBeLessThan(0);
    expect(Math.max(...data)).toBeGreaterThan(1);
  });

  it('keeps transparent colours out of opaque ones by lanczos', () => {
    const image = imageOf(2, 1, 4, [255, 0, 0, 255, 0, 255, 0, 0]);
    const { data } = resize(image, { width: 3, height: 1 }, 'lanczos', FREE_WORK);
    expect(levelsOf(data.subarray(4, 7))).toEqual([255, 0, 0]);
  });

  it('fills a size by cutting both sides evenly', () => {
    const image = imageOf(4, 1, 1, [10, 20, 30, 40]);
    expect(levelsOf(resizeToFill(image, { width: 2, height: 1 }, 'area', FREE_WORK).data)).toEqual([20, 30]);
  });
});
