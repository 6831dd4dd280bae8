import { FREE_WORK } from '../../fixtures/test-work';
import { MersenneTwister } from './mersenne-twister';
import { normalFloats } from './torch-normal';
import { Xoshiro128 } from './xoshiro';

function drawn(seed: bigint, count = 4): number[] {
  const random = new Xoshiro128(seed);
  return Array.from({ length: count }, () => random.next());
}

describe('random numbers', () => {
  it('of the Mersenne twister are those of its reference implementation', () => {
    const source = new MersenneTwister(5489);
    expect(Array.from({ length: 3 }, () => source.next())).toEqual([3499211612, 581869302, 3890346734]);
    for (let i = 3; i < 9999; i += 1) source.next();
    expect(source.next()).toBe(4123659995);
  });

  it('of the normal distribution are those of torch', () => {
    // torch.manual_seed(42); torch.randn(20)
    const expected = [1.9269, 1.4873, 0.9007, -2.1055, 0.6784, -1.2345, -0.0431, -1.6047];
    const values = normalFloats(42n, 24, FREE_WORK);
    expect(Array.from(values.subarray(0, 8), (value) => Number(value.toFixed(4)))).toEqual(expected);
  });

  it('of the normal distribution have mean 0 and variance 1', () => {
    const values = normalFloats(7n, 100_003, FREE_WORK);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(mean).toBeCloseTo(0, 1);
    expect(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length).toBeCloseTo(1, 1);
  });

  it('of xoshiro128** follow from all 64 bits of the seed', () => {
    const streams = [0n, 1n, 1n << 32n, 1n << 63n, (1n << 64n) - 1n].map((seed) => drawn(seed).join());
    expect(new Set(streams).size).toBe(streams.length);
    expect(drawn(5n)).toEqual(drawn(5n + (1n << 64n)));
  });

  it('of xoshiro128** are the same everywhere', () => {
    expect(drawn(18446744073709551615n, 3)).toEqual([0.11122081335633993, 0.5806793072260916, 0.12938300520181656]);
  });

  it('of xoshiro128** fill their range evenly', () => {
    const buckets = new Array<number>(10).fill(0);
    for (const value of drawn(3n, 20_000)) buckets[Math.floor(value * 10)]! += 1;
    for (const count of buckets) expect(Math.abs(count - 2000)).toBeLessThan(200);
  });
});
