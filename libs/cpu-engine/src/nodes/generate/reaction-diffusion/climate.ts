import type { Xoshiro128 } from '../../../random/xoshiro';
import type { Work } from '../../../node-api/work';
import type { GrayScott } from './gray-scott';
import { valueNoise } from './value-noise';

/** By how much of itself feed and kill rise and fall over the picture: enough for lines in one place and spots in another. */
const FEED_RANGE = 0.16;
const KILL_RANGE = 0.028;

/** Let feed and kill vary gently over the field, so that no two places look alike. */
export function spreadClimate(
  field: GrayScott,
  { feed, kill }: { feed: number; kill: number },
  random: Xoshiro128,
  work: Work,
): void {
  const feeds = valueNoise(field.size, random, work);
  const kills = valueNoise(field.size, random, work);
  const { width, height } = field.size;
  for (let y = 0; y < height; y += 1) {
    work.checkpoint();
    for (let x = 0; x < width; x += 1) {
      const place = y * width + x;
      const localFeed = feed * (1 + FEED_RANGE * (feeds[place] as number));
      const localKill = kill * (1 + KILL_RANGE * (kills[place] as number));
      field.setClimate(field.at(x, y), localFeed, localKill);
    }
  }
}
