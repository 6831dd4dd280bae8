const { writeFileSync } = require('node:fs');
const LeakReporter = require('./leak-reporter');

/**
 * What a test file proved. `loaded`: false when it failed before any test of its ran.
 *
 * @typedef {{ path: string, passed: number, failed: number, loaded: boolean }} FileReport
 */

/**
 * What a run of jest proved. `leaked`: whether a test file left something open.
 *
 * @typedef {{ files: FileReport[], leaked: boolean }} TestReport
 */

/**
 * What this reads of jest's results.
 *
 * @typedef {{
 *   testResults: { testFilePath: string, numPassingTests: number, numFailingTests: number, testExecError?: unknown }[],
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
  onRunComplete(_contexts, { testResults }) {
    /** @type {TestReport} */
    const report = {
      files: testResults.map(({ testFilePath, numPassingTests, numFailingTests, testExecError }) => ({
        path: testFilePath,
        passed: numPassingTests,
        failed: numFailingTests,
        loaded: !testExecError,
      })),
      leaked: LeakReporter.found,
    };
    writeFileSync(process.env.MILLRACE_TEST_REPORT ?? '', JSON.stringify(report));
  }
};
