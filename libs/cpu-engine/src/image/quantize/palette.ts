/** Pillow looks colours up by their upper six bits: 64 steps per channel. */
const STEPS = 64;
const UNKNOWN = -1;

/** A palette of RGB triples, and the nearest of its colours for any other. */
export class Palette {
  private readonly nearest = new Int16Array(STEPS ** 3).fill(UNKNOWN);

  constructor(readonly colours: Uint8Array) {}

  get size(): number {
    return this.colours.length / 3;
  }

  /** The entry nearest to the colour once its lowest two bits per channel are dropped; the first of equals. */
  indexOf(red: number, green: number, blue: number): number {
    const slot = ((red >> 2) * STEPS + (green >> 2)) * STEPS + (blue >> 2);
    const known = this.nearest[slot] as number;
    if (known !== UNKNOWN) return known;
    return (this.nearest[slot] = this.search(red & 0xfc, green & 0xfc, blue & 0xfc));
  }

  private search(red: number, green: number, blue: number): number {
    let best = Infinity;
    let index = 0;
    for (let at = 0; at < this.colours.length; at += 3) {
      const distance =
        (red - (this.colours[at] as number)) ** 2 +
        (green - (this.colours[at + 1] as number)) ** 2 +
        (blue - (this.colours[at + 2] as number)) ** 2;
      if (distance < best) {
        best = distance;
        index = at / 3;
      }
    }
    return index;
  }
}
