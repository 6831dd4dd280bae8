/** @typedef {import('./test-report.js').TestReport} TestReport */

/**
 * The last line of a test run, and whether the run proves anything: a file that did not load counts as a failure, and
 * without a single passed test there is no success.
 *
 * @param {TestReport | undefined} report undefined when jest left none
 * @param {number | null} jestCode its exit code
 */
export function concludeTests(report, jestCode) {
  const { passed, failed, unloaded } = report ?? { passed: 0, failed: 0, unloaded: [] };
  const failures = failed + unloaded.length;
  return {
    line: `Tests: ${passed} passed, ${failures} failed`,
    succeeded: jestCode === 0 && failures === 0 && passed > 0,
  };
}
