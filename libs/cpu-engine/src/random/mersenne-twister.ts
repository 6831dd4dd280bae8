const SIZE = 624;
const SHIFT = 397;
const UPPER = 0x80000000;
const LOWER = 0x7fffffff;

/** MT19937 (Matsumoto and Nishimura, 1998), the generator behind torch's CPU random numbers. */
export class MersenneTwister {
  private readonly state = new Uint32Array(SIZE);
  private at = SIZE;

  /** `seed` is 32 bits wide, as the generator's own initialisation takes it. */
  constructor(seed: number) {
    this.state[0] = seed;
    for (let i = 1; i < SIZE; i += 1) {
      const before = this.state[i - 1] as number;
      this.state[i] = Math.imul(1812433253, before ^ (before >>> 30)) + i;
    }
  }

  /** The next 32 bits, unsigned. */
  next(): number {
    if (this.at === SIZE) this.renew();
    let y = this.state[this.at++] as number;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  private renew(): void {
    const { state } = this;
    for (let i = 0; i < SIZE; i += 1) {
      const y = ((state[i] as number) & UPPER) | ((state[(i + 1) % SIZE] as number) & LOWER);
      state[i] = (state[(i + SHIFT) % SIZE] as number) ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
    }
    this.at = 0;
  }
}
