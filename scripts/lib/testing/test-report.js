const { writeFileSync } = require('node:fs');

/**
 * What a run of jest proved. `unloaded`: files that failed before any test of theirs ran.
 *
 * @typedef {{ passed: number, failed: number, unloaded: string[] }} TestReport
 */

/**
 * What this reads of jest's results.
 *
 * @typedef {{
 *   numPassedTests: number,
 *   numFailedTests: number,
 *   testResults: { testFilePath: string, testExecError?: unknown }[],
 * }} Results
 */

/**
 * A reporter for jest that leaves the counts where MILLRACE_TEST_REPORT says. It stands in for `--json`, which announces its
 * file on the terminal.
 */
module.exports = class TestReportFile {
  /**
   * @param {unknown} _contexts
   * @param {Results} results
   */
  onRunComplete(_contexts, results) {
    /** @type {TestReport} */
    const report = {
      passed: results.numPassedTests,
      failed: results.numFailedTests,
      unloaded: results.testResults.filter((file) => file.testExecError).map((file) => file.testFilePath),
    };
    writeFileSync(process.env.MILLRACE_TEST_REPORT ?? '', JSON.stringify(report));
  }
};
