/** @typedef {import('./bench.js').Pair} Pair */
/** @typedef {import('./bench.js').Summary} Summary */
/** @typedef {import('./bench.js').Finding} Finding */

/**
 * Run two sides in turns, ABAB…: all else that the machine does meets both alike. The first turn warms up and does not
 * count.
 *
 * @template T
 * @param {{ pairs: number, ours: () => Promise<T>, floor: () => Promise<T> }} sides
 * @returns {Promise<{ ours: T, floor: T }[]>}
 */
export async function takeTurns({ pairs, ours, floor }) {
  /** @type {{ ours: T, floor: T }[]} */
  const turns = [];
  for (let round = 0; round <= pairs; round += 1) {
    const turn = { ours: await ours(), floor: await floor() };
    if (round > 0) turns.push(turn);
  }
  return turns;
}

/**
 * The pairs of one figure of what was measured in turns.
 *
 * @template T
 * @param {{ ours: T, floor: T }[]} turns
 * @param {(side: T) => number} figure
 * @param {(ours: number, floor: number) => number} compare
 * @returns {Pair[]}
 */
export function pairsOf(turns, figure, compare) {
  return turns.map((turn) => {
    const ours = figure(turn.ours);
    const floor = figure(turn.floor);
    return { ours, floor, value: compare(ours, floor) };
  });
}

/**
 * Measure one figure of two sides in turns.
 *
 * @param {{
 *   pairs: number,
 *   ours: () => Promise<number>,
 *   floor: () => Promise<number>,
 *   compare: (ours: number, floor: number) => number,
 * }} sides
 * @returns {Promise<Pair[]>}
 */
export async function measurePairs({ compare, ...sides }) {
  return pairsOf(await takeTurns(sides), (figure) => figure, compare);
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
function summarise(values) {
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
