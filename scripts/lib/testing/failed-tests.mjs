/**
 * Files of which a test failed, by what jest has printed. A jest that was killed, ran out of memory or could not load a file fails too, which
 * says nothing of what the tests watch.
 *
 * @param {{ code: number | null, output: string }} run `code`: null when it was killed
 * @returns {string[] | null} none when everything passed; null when jest failed and no test did.
 */
export function failedTests({ code, output }) {
  if (code === 0) return [];
  if (!/^Tests: .*\bfailed\b/m.test(output)) return null;
  const files = [...output.matchAll(/^FAIL (\S+)/gm)].map(([, file = '']) => file);
  return files.length > 0 ? files : null;
}
