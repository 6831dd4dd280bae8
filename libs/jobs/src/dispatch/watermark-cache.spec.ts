import type { Watermarks } from '../rotation/turn.store';
import { LONGEST_TTL_MS, WATERMARK_TTL_MS, WatermarkCache } from './watermark-cache';

const at = (pass: bigint, second: number): Watermarks => ({ pass, inFlightSince: new Date(second * 1_000) });

/** A cache of readings that took no time. */
function cacheOf(...readings: [found: Watermarks, at: number][]): WatermarkCache {
  const cache = new WatermarkCache();
  for (const [found, now] of readings) cache.set(found, now, now);
  return cache;
}

describe('the watermarks of a pool', () => {
  it('are there once two readings lie far enough apart', () => {
    const cache = cacheOf();
    expect(cache.get(0)).toBeNull();
    cache.set(at(1n, 1), 0, 0);
    expect(cache.get(1)).toBeNull();
    cache.set(at(2n, 2), WATERMARK_TTL_MS - 1, WATERMARK_TTL_MS - 1);
    expect(cache.get(WATERMARK_TTL_MS - 1)).toBeNull();
    cache.set(at(3n, 3), WATERMARK_TTL_MS, WATERMARK_TTL_MS);
    expect(cache.get(WATERMARK_TTL_MS)).toEqual(at(1n, 1));
  });

  it('are the lower of the last two readings, each by itself', () => {
    const cache = cacheOf([at(5n, 1), 0], [at(3n, 2), WATERMARK_TTL_MS]);
    expect(cache.get(WATERMARK_TTL_MS)).toEqual(at(3n, 1));
    cache.set(at(7n, 0), 2 * WATERMARK_TTL_MS, 2 * WATERMARK_TTL_MS);
    expect(cache.get(2 * WATERMARK_TTL_MS)).toEqual(at(3n, 0));
  });

  it('are used for a moment only', () => {
    const cache = cacheOf([at(1n, 1), 0], [at(2n, 2), WATERMARK_TTL_MS]);
    expect(cache.get(2 * WATERMARK_TTL_MS - 1)).not.toBeNull();
    expect(cache.get(2 * WATERMARK_TTL_MS)).toBeNull();
  });

  it('are used longer where reading takes long, so that it is a fiftieth of the work at most', () => {
    const cache = cacheOf([at(1n, 1), 0]);
    const readingMs = 20;
    cache.set(at(2n, 2), WATERMARK_TTL_MS, WATERMARK_TTL_MS + readingMs);
    const staleAt = WATERMARK_TTL_MS + 50 * readingMs;
    expect(cache.get(staleAt - 1)).not.toBeNull();
    expect(cache.get(staleAt)).toBeNull();
  });

  it('are read again within seconds, however long that takes', () => {
    const cache = cacheOf([at(1n, 1), 0]);
    cache.set(at(2n, 2), WATERMARK_TTL_MS, WATERMARK_TTL_MS + LONGEST_TTL_MS);
    expect(cache.get(WATERMARK_TTL_MS + LONGEST_TTL_MS - 1)).not.toBeNull();
    expect(cache.get(WATERMARK_TTL_MS + LONGEST_TTL_MS)).toBeNull();
  });
});
