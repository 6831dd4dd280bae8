import type { Work } from '../node-api/work';
import { MersenneTwister } from './mersenne-twister';

/** torch fills from this many values on in blocks of as many; fewer are drawn one by one in double precision. */
const BLOCK = 16;
const CHECK_EVERY = 1 << 16;

/**
 * `count` values of the standard normal distribution: what `torch.randn` gives on a CPU after `torch.manual_seed(seed)`,
 * of which seed the generator takes the lower 32 bits. Box-Muller (1958) over uniform numbers of 24 bits.
 */
export function normalFloats(seed: bigint, count: number, work: Work): Float32Array {
  const source = new MersenneTwister(Number(BigInt.asUintN(32, seed)));
  const values = work.floats(count);
  if (count < BLOCK) return drawOneByOne(values, source);
  for (let i = 0; i < count; i += 1) {
    if (i % CHECK_EVERY === 0) work.checkpoint();
    values[i] = uniformFloat(source);
  }
  for (let from = 0; from + BLOCK <= count; from += BLOCK) {
    if (from % CHECK_EVERY === 0) work.checkpoint();
    transformBlock(values, from);
  }
  if (count % BLOCK !== 0) {
    for (let i = count - BLOCK; i < count; i += 1) values[i] = uniformFloat(source);
    transformBlock(values, count - BLOCK);
  }
  return values;
}

/** Uniform in [0, 1) with 24 bits. */
function uniformFloat(source: MersenneTwister): number {
  return (source.next() & 0xffffff) / 2 ** 24;
}

/** Each value of the block's first half and its partner in the second become two normal ones. */
function transformBlock(values: Float32Array, from: number): void {
  for (let i = from; i < from + BLOCK / 2; i += 1) {
    const radius = Math.sqrt(-2 * Math.log(1 - (values[i] as number)));
    const angle = 2 * Math.PI * (values[i + BLOCK / 2] as number);
    values[i] = radius * Math.cos(angle);
    values[i + BLOCK / 2] = radius * Math.sin(angle);
  }
}

function drawOneByOne(values: Float32Array, source: MersenneTwister): Float32Array {
  for (let i = 0; i < values.length; i += 2) {
    const angle = 2 * Math.PI * uniformDouble(source);
    const radius = Math.sqrt(-2 * Math.log1p(-uniformDouble(source)));
    values[i] = radius * Math.cos(angle);
    if (i + 1 < values.length) values[i + 1] = radius * Math.sin(angle);
  }
  return values;
}

/** Uniform in [0, 1) with 53 bits: the lower ones of two draws, the first draw above the second. */
function uniformDouble(source: MersenneTwister): number {
  const high = source.next() & 0x1fffff;
  return (high * 2 ** 32 + source.next()) / 2 ** 53;
}
