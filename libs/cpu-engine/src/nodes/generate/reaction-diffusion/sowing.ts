import type { Xoshiro128 } from '../../../random/xoshiro';
import type { GrayScott } from './gray-scott';

/** One seed of growth for so many cells, and its radius in cells. */
const CELLS_PER_SEED = 36 * 36;
const RADIUS = [2, 6] as const;

/** Scatter patches of the second substance over the field. */
export function sow(field: GrayScott, random: Xoshiro128): void {
  const { width, height } = field.size;
  const count = Math.max(1, Math.round((width * height) / CELLS_PER_SEED));
  for (let n = 0; n < count; n += 1) {
    const centre = { x: Math.floor(random.between(0, width)), y: Math.floor(random.between(0, height)) };
    sowPatch(field, centre, random.between(...RADIUS), random);
  }
}

function sowPatch(field: GrayScott, centre: { x: number; y: number }, radius: number, random: Xoshiro128): void {
  const { width, height } = field.size;
  const reach = Math.ceil(radius);
  for (let dy = -reach; dy <= reach; dy += 1) {
    for (let dx = -reach; dx <= reach; dx += 1) {
      if (dx * dx + dy * dy > radius * radius) continue;
      const cell = field.at(modulo(centre.x + dx, width), modulo(centre.y + dy, height));
      field.u[cell] = 0.5;
      field.v[cell] = random.between(0.2, 0.3);
    }
  }
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}
