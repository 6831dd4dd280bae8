/**
 * @typedef {import('./test-report.js').FileReport} FileReport
 * @typedef {import('./test-report.js').TestReport} TestReport
 */

/**
 * How one run of jest ended. Of `report`: undefined when jest left none. Of `code`: null when jest was killed.
 *
 * @typedef {{ report: TestReport | undefined, code: number | null }} JestRun
 */

/** More files that fail than this are no accident of the machine. */
const TRIED_AGAIN_AT_MOST = 5;

/** What draws by chance what it does, at the size of a proof: a failure may be of a choice that a second try does not make. */
const NEVER_TRIED_AGAIN = /\/(proofs|test\/faults)\//;

/** @param {FileReport} file */
const isGood = ({ failed, loaded }) => failed === 0 && loaded;

/**
 * The files that failed, to be run once more and alone: a test may fail because of what else the machine did. None when the
 * run proves something else is wrong: jest was killed, a file left something open, or many files failed. Never a proof by chance, nor a
 * run with faults.
 *
 * @param {JestRun} run
 * @returns {string[]} their paths
 */
export function filesToTryAgain({ report, code }) {
  if (report === undefined || code !== 1 || report.leaked) return [];
  const failed = report.files.filter((file) => !isGood(file));
  const paths = failed.map(({ path }) => path);
  return failed.length > TRIED_AGAIN_AT_MOST ? [] : paths.filter((path) => !NEVER_TRIED_AGAIN.test(path));
}

/**
 * One run, as if its files that were tried again had been run as they were the second time.
 *
 * @param {JestRun} first
 * @param {JestRun} second of what `filesToTryAgain` named
 * @returns {{ run: JestRun, unsteady: string[] }} `unsteady`: files that passed only alone
 */
export function withSecondTry(first, second) {
  const again = second.report?.files ?? [];
  const paths = again.map(({ path }) => path);
  const unsteady = again.filter(isGood).map(({ path }) => path);
  if (first.report === undefined || filesToTryAgain(first).some((path) => !paths.includes(path))) {
    return { run: first, unsteady };
  }
  const files = [...first.report.files.filter(({ path }) => !paths.includes(path)), ...again];
  return { run: { report: { files, leaked: second.report?.leaked ?? false }, code: second.code }, unsteady };
}

/**
 * The last line of a test run, and whether the run proves anything: a file that did not load counts as a failure, and
 * without a single passed test there is no success.
 *
 * @param {JestRun[]} runs
 */
export function concludeTests(runs) {
  const files = runs.flatMap(({ report }) => report?.files ?? []);
  const passed = files.reduce((sum, file) => sum + file.passed, 0);
  const failures = files.reduce((sum, file) => sum + file.failed + (file.loaded ? 0 : 1), 0);
  const areWhole = runs.every(({ report, code }) => report !== undefined && code === 0);
  return {
    line: `Tests: ${passed} passed, ${failures} failed`,
    succeeded: areWhole && failures === 0 && passed > 0,
  };
}
