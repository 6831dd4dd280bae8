import type { Size } from '../../../image/tensor';
import type { Xoshiro128 } from '../../../random/xoshiro';
import type { Work } from '../../../node-api/work';

/** Hills across the picture of the coarsest layer; each further layer has twice as many, half as high. */
const COARSEST = 2;
const LAYERS = 3;

/**
 * Smooth hills and hollows between -1 and 1 over the picture, that join up at its edges: value noise (random heights on a
 * lattice, eased between) in a few layers.
 */
export function valueNoise({ width, height }: Size, random: Xoshiro128, work: Work): Float32Array {
  const heights = work.floats(width * height);
  for (let layer = 0; layer < LAYERS; layer += 1) {
    const lattice = COARSEST * 2 ** layer;
    const values = Array.from({ length: lattice * lattice }, () => random.between(-1, 1) / 2 ** layer);
    addLayer(heights, { width, height }, lattice, values, work);
  }
  normalise(heights);
  return heights;
}

function addLayer(heights: Float32Array, { width, height }: Size, lattice: number, values: number[], work: Work): void {
  const columns = Array.from({ length: width }, (_, x) => placeOf((x * lattice) / width, lattice));
  let to = 0;
  for (let y = 0; y < height; y += 1) {
    work.checkpoint();
    const row = placeOf((y * lattice) / height, lattice);
    for (const column of columns) {
      const value = (iy: number, ix: number): number => values[iy * lattice + ix] as number;
      const upper = mixed(value(row.low, column.low), value(row.low, column.high), column.part);
      const lower = mixed(value(row.high, column.low), value(row.high, column.high), column.part);
      heights[to] = (heights[to] as number) + mixed(upper, lower, row.part);
      to += 1;
    }
  }
}

function placeOf(place: number, lattice: number): { low: number; high: number; part: number } {
  const low = Math.floor(place);
  const part = place - low;
  return { low, high: (low + 1) % lattice, part: part * part * (3 - 2 * part) };
}

function mixed(a: number, b: number, part: number): number {
  return a + (b - a) * part;
}

function normalise(heights: Float32Array): void {
  const low = heights.reduce((a, b) => Math.min(a, b), Infinity);
  const high = heights.reduce((a, b) => Math.max(a, b), -Infinity);
  const range = high - low || 1;
  for (let i = 0; i < heights.length; i += 1) heights[i] = (((heights[i] as number) - low) / range) * 2 - 1;
}
