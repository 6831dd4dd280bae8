'use strict';
// Preloaded into a process: as it ends, it makes objects that are kept and then, at the same place in the code, objects that are not, and prints how many
// bytes of these V8 made among the old ones.
const process = require('node:process');
const { getHeapSpaceStatistics } = require('node:v8');

const KEPT = 1_000_000;
const ROUNDS = 40;
const OF_A_ROUND = 100_000;

/** @param {unknown[]} into keeps the last ones, as many as it has room for @param {number} count */
function makeObjects(into, count) {
  for (let nth = 0; nth < count; nth += 1) into[nth % into.length] = [nth];
}

const oldBytes = () => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space')?.space_used_size ?? 0;

process.on('exit', () => {
  const kept = new Array(KEPT).fill(null);
  makeObjects(kept, KEPT);
  let old = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = oldBytes();
    makeObjects([null], OF_A_ROUND);
    // The first rounds make those old that were kept last.
    if (round >= ROUNDS / 2) old += Math.max(0, oldBytes() - before);
  }
  // Named here so that those that are kept live until the end.
  process.stdout.write(`${JSON.stringify({ old, made: (ROUNDS / 2) * OF_A_ROUND, kept: kept.length })}\n`);
});
