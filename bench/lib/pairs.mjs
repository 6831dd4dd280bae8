/** @typedef {import('./bench.js').Pair} Pair */
/** @typedef {import('./bench.js').Summary} Summary */
/** @typedef {import('./bench.js').Finding} Finding */

/**
 * Measure two sides in turns, ABAB…: whatever else the machine does meets both alike. The first pair warms up and does
 * not count.
 *
 * @param {{
 *   pairs: number,
 *   ours: () => Promise<number>,
 *   floor: () => Promise<number>,
 *   compare: (ours: number, floor: number) => number,
 * }} sides
 * @returns {Promise<Pair[]>}
 */
export async function measurePairs({ pairs, ours, floor, compare }) {
  /** @type {Pair[]} */
  const measured = [];
  for (let round = 0; round <= pairs; round += 1) {
    const one = await ours();
    const other = await floor();
    if (round > 0) measured.push({ ours: one, floor: other, value: compare(one, other) });
  }
  return measured;
}

/**
 * A finding from its pairs.
 *
 * @param {Omit<Finding, 'value' | 'ours' | 'floor'>} facts
 * @returns {Finding}
 */
export function findingOf(facts) {
  const column = (/** @type {keyof Pair} */ name) => summarise(facts.pairs.map((pair) => pair[name]));
  return { ...facts, value: column('value'), ours: column('ours'), floor: column('floor') };
}

/**
 * @param {number[]} values at least one
 * @returns {Summary}
 */
export function summarise(values) {
  const [median, lowerQuartile, upperQuartile, least, most] = [0.5, 0.25, 0.75, 0, 1].map((share) =>
    quantile(values, share),
  );
  return /** @type {Summary} */ ({ median, lowerQuartile, upperQuartile, least, most });
}

/**
 * The value below which a share of the others lies, between two of them in proportion.
 *
 * @param {number[]} values at least one
 * @param {number} share 0..1
 */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)] ?? NaN;
  const above = sorted[Math.ceil(place)] ?? NaN;
  return below + (above - below) * (place - Math.floor(place));
}
