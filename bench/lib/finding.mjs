/** @typedef {import('./bench.js').Finding} Finding */
/** @typedef {import('./bench.js').Summary} Summary */

/**
 * One line for a person: the figure, its quartiles, both sides, and whether it holds.
 *
 * @param {Finding} finding
 */
export function describeFinding({ measure, unit, sideUnit, isHigherBetter, gate, goal, value, ours, floor, pairs }) {
  const meets = (/** @type {number} */ bound) => (isHigherBetter ? value.median >= bound : value.median <= bound);
  const missed = gate === null ? 'MISSES THE GOAL' : meets(gate) ? 'within the gate' : 'MISSES THE GATE';
  const verdict = meets(goal) ? 'meets the goal' : missed;
  const bounds = `${gate === null ? 'no gate' : `gate ${gate}`}, goal ${goal}`;
  return [
    `  ${measure}: ${short(value.median)} ${unit} (quartiles ${short(value.lowerQuartile)} to ${short(value.upperQuartile)}) ${verdict} (${bounds})`,
    `    ours ${short(ours.median)}, floor ${short(floor.median)} ${sideUnit}, medians of ${pairs.length} interleaved pairs`,
  ].join('\n');
}

/** @param {number} number */
function short(number) {
  return String(Number(number.toPrecision(3)));
}
