import { FREE_WORK, imageOf } from '../../fixtures/test-work';
import { convolve, convolveSeparably } from './convolve';
import { gaussianBlur, gaussianSharpen } from './gaussian';
import { gaussianKernel } from './gaussian-kernel';

const LEVELS = [0, 17, 230, 99, 254, 3, 128, 61, 190, 45, 77];

describe('the Gaussian window', () => {
  it.each([1, 4, 31])('of radius %d adds up to 1 and is alike in all four quarters', (radius) => {
    const kernel = gaussianKernel(radius, 1.3);
    const side = 2 * radius + 1;
    expect(kernel).toHaveLength(side * side);
    expect(kernel.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 6);
    expect([...kernel].reverse()).toEqual([...kernel]);
    for (let i = 0; i < side; i += 1) expect(kernel[i]).toBe(kernel[i * side]);
  });

  it('measures sigma in radii: the same falls to the edge at every radius', () => {
    const fall = (radius: number): number => {
      const kernel = gaussianKernel(radius, 0.5);
      const middle = radius * (2 * radius + 1);
      return (kernel[middle] as number) / (kernel[middle + radius] as number);
    };
    expect(fall(2)).toBeCloseTo(Math.exp(-2), 5);
    expect(fall(20)).toBeCloseTo(Math.exp(-2), 5);
  });
});

describe('blurring', () => {
  it('axis by axis agrees with the whole kernel', () => {
    const image = imageOf(23, 19, 3, LEVELS);
    const axis = Float64Array.from([1, 4, 6, 4, 1], (weight) => weight / 16);
    const kernel = Float32Array.from(
      { length: 25 },
      (_, i) => (axis[Math.floor(i / 5)] as number) * (axis[i % 5] as number),
    );
    const whole = convolve(image, kernel, 2, FREE_WORK).data;
    const byAxis = convolveSeparably(image, axis, FREE_WORK).data;
    for (const [i, value] of whole.entries()) expect(Math.abs(value - (byAxis[i] as number))).toBeLessThan(1e-6);
  });

  it('mirrors the edges without repeating the edge pixel', () => {
    const image = imageOf(3, 2, 1, [0, 255, 0, 0, 255, 0]);
    const left = new Float32Array(9);
    left[3] = 1;
    expect(Array.from(convolve(image, left, 1, FREE_WORK).data)).toEqual([1, 0, 1, 1, 0, 1]);
  });

  it('refuses a picture that the window would look past, saying how large it must be', () => {
    expect(() => gaussianBlur(imageOf(9, 4, 3, LEVELS), 4, 1, FREE_WORK)).toThrow(
      'A radius of 4 needs a picture of more than 4 pixels on either side; this one is 9×4.',
    );
  });
});

describe('sharpening', () => {
  it('adds the difference from the blur', () => {
    const image = imageOf(12, 9, 3, LEVELS);
    const blurred = gaussianBlur(image, 2, 0.8, FREE_WORK).data;
    const sharpened = gaussianSharpen(image, 2, 0.8, 3, FREE_WORK).data;
    for (const [i, value] of image.data.entries())
      expect(sharpened[i]).toBeCloseTo(value + 3 * (value - (blurred[i] as number)), 4);
  });
});
