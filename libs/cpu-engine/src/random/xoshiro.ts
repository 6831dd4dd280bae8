const MASK = (1n << 64n) - 1n;

/**
 * xoshiro128** (D. Blackman and S. Vigna, "Scrambled linear pseudorandom number generators", 2021), its 128 bits of state
 * filled by SplitMix64 (G. Steele, D. Lea, C. Flood, 2014) from a seed of 64 bits: as its authors recommend, and so that
 * every bit of the seed counts. The same numbers on every machine.
 */
export class Xoshiro128 {
  private a: number;
  private b: number;
  private c: number;
  private d: number;

  /** `seed` is taken modulo 2^64. */
  constructor(seed: bigint) {
    const [first, second] = splitMix64(BigInt.asUintN(64, seed));
    this.a = Number(first & 0xffffffffn) | 0;
    this.b = Number(first >> 32n) | 0;
    this.c = Number(second & 0xffffffffn) | 0;
    this.d = Number(second >> 32n) | 0;
  }

  /** The next number, uniform in [0, 1), with 32 bits. */
  next(): number {
    const scrambled = Math.imul(rotated(Math.imul(this.b, 5), 7), 9);
    const shifted = this.b << 9;
    this.c ^= this.a;
    this.d ^= this.b;
    this.b ^= this.c;
    this.a ^= this.d;
    this.c ^= shifted;
    this.d = rotated(this.d, 11);
    return (scrambled >>> 0) / 2 ** 32;
  }

  /** Uniform in [low, high). */
  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }
}

function rotated(x: number, bits: number): number {
  return (x << bits) | (x >>> (32 - bits));
}

/** Two numbers of 64 bits. */
function splitMix64(seed: bigint): [bigint, bigint] {
  let state = seed;
  const next = (): bigint => {
    state = (state + 0x9e3779b97f4a7c15n) & MASK;
    let z = state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
    return z ^ (z >> 31n);
  };
  return [next(), next()];
}
