import type { Watermarks } from '../rotation/turn.store';
import { WATERMARK_TTL_MS, WatermarkCache } from './watermark-cache';

const at = (pass: bigint, second: number): Watermarks => ({ pass, inFlightSince: new Date(second * 1_000) });

describe('the watermarks of a pool', () => {
  it('are there once two readings lie far enough apart', () => {
    const cache = new WatermarkCache();
    expect(cache.get(0)).toBeNull();
    cache.set(at(1n, 1), 0);
    expect(cache.get(1)).toBeNull();
    cache.set(at(2n, 2), WATERMARK_TTL_MS - 1);
    expect(cache.get(WATERMARK_TTL_MS - 1)).toBeNull();
    cache.set(at(3n, 3), WATERMARK_TTL_MS);
    expect(cache.get(WATERMARK_TTL_MS)).toEqual(at(1n, 1));
  });

  it('are the lower of the last two readings, each by itself', () => {
    const cache = new WatermarkCache();
    cache.set(at(5n, 1), 0);
    cache.set(at(3n, 2), WATERMARK_TTL_MS);
    expect(cache.get(WATERMARK_TTL_MS)).toEqual(at(3n, 1));
    cache.set(at(7n, 0), 2 * WATERMARK_TTL_MS);
    expect(cache.get(2 * WATERMARK_TTL_MS)).toEqual(at(3n, 0));
  });

  it('are used for a moment only', () => {
    const cache = new WatermarkCache();
    cache.set(at(1n, 1), 0);
    cache.set(at(2n, 2), WATERMARK_TTL_MS);
    expect(cache.get(2 * WATERMARK_TTL_MS - 1)).not.toBeNull();
    expect(cache.get(2 * WATERMARK_TTL_MS)).toBeNull();
  });
});
