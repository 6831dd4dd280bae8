/** How many requests or statements are under way at once. */
export const CONCURRENCY = 32;

/**
 * @param {number} seconds
 * @param {() => Promise<unknown>} act
 * @returns {Promise<number>} acts per second, so many at a time
 */
export async function rateOf(seconds, act) {
  const startedAt = performance.now();
  const until = startedAt + seconds * 1_000;
  let acts = 0;
  const lane = async () => {
    while (performance.now() < until) {
      await act();
      acts += 1;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
  return acts / ((performance.now() - startedAt) / 1_000);
}

/**
 * @param {number} count
 * @param {() => Promise<unknown>} act
 * @returns {Promise<number>} acts per second, so many at a time, until `count` are done
 */
export async function rateOfCount(count, act) {
  const startedAt = performance.now();
  let begun = 0;
  const lane = async () => {
    while (begun < count) {
      begun += 1;
      await act();
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
  return count / ((performance.now() - startedAt) / 1_000);
}
