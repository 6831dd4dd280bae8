/** @typedef {import('./test-report.js').TestReport} TestReport */

/**
 * How one run of jest ended. Of `report`: undefined when jest left none. Of `code`: null when jest was killed.
 *
 * @typedef {{ report: TestReport | undefined, code: number | null }} JestRun
 */

/**
 * The last line of a test run, and whether the run proves anything: a file that did not load counts as a failure, and
 * without a single passed test there is no success.
 *
 * @param {JestRun[]} runs
 */
export function concludeTests(runs) {
  let passed = 0;
  let failures = 0;
  for (const { report } of runs) {
    passed += report?.passed ?? 0;
    failures += (report?.failed ?? 0) + (report?.unloaded.length ?? 0);
  }
  const areWhole = runs.every(({ report, code }) => report !== undefined && code === 0);
  return {
    line: `Tests: ${passed} passed, ${failures} failed`,
    succeeded: areWhole && failures === 0 && passed > 0,
  };
}
