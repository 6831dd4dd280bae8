/** @typedef {import('./bench.js').Finding} Finding */
/** @typedef {import('./bench.js').Summary} Summary */

/**
 * One line for a person: the figure, its quartiles, both sides, and whether it holds.
 *
 * @param {Finding} finding
 */
export function describeFinding({ measure, unit, sideUnit, isHigherBetter, gate, goal, value, ours, floor, pairs }) {
  const verdict = verdictOf({ isHigherBetter, gate, goal, value });
  const bounds = `${gate === null ? 'no gate' : `gate ${gate}`}, goal ${goal}`;
  return [
    `  ${measure}: ${short(value.median)} ${unit} (quartiles ${short(value.lowerQuartile)} to ${short(value.upperQuartile)}) ${verdict} (${bounds})`,
    `    ours ${short(ours.median)}, floor ${short(floor.median)} ${sideUnit}, medians of ${pairs.length} interleaved pairs`,
  ].join('\n');
}

/**
 * One table of many findings, a line each: the measure up to its colon, the figure, its bounds and the verdict.
 *
 * @param {Finding[]} findings
 */
export function tableOf(findings) {
  const rows = findings.map((finding) => [
    nameOf(finding),
    `${short(finding.value.median)} ${finding.unit}`,
    finding.gate === null ? '' : String(finding.gate),
    String(finding.goal),
    verdictOf(finding),
  ]);
  const all = [['measure', 'median', 'gate', 'goal', ''], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) => `  ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
    .join('\n');
}

/**
 * What a measure is called: its text up to the colon.
 *
 * @param {Pick<Finding, 'measure'>} finding
 */
export function nameOf({ measure }) {
  return measure.split(':')[0] ?? '';
}

/**
 * Whether the median is on the wrong side of the gate.
 *
 * @param {Pick<Finding, 'isHigherBetter' | 'gate' | 'value'>} finding
 */
export function missesGate({ gate, ...finding }) {
  return gate !== null && !meets(finding, gate);
}

/** @param {Pick<Finding, 'isHigherBetter' | 'gate' | 'goal' | 'value'>} finding */
function verdictOf(finding) {
  if (meets(finding, finding.goal)) return 'meets the goal';
  if (finding.gate === null) return 'MISSES THE GOAL';
  return missesGate(finding) ? 'MISSES THE GATE' : 'within the gate';
}

/**
 * A median that is no number meets nothing.
 *
 * @param {Pick<Finding, 'isHigherBetter' | 'value'>} finding
 * @param {number} bound
 */
function meets({ isHigherBetter, value: { median } }, bound) {
  return isHigherBetter ? median >= bound : median <= bound;
}

/** @param {number} number */
function short(number) {
  return String(Number(number.toPrecision(3)));
}
