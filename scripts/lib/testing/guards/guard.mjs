/**
 * Something that keeps a promise, and how to remove it: from a source, or from the database by `sql`. `tests` are patterns of the
 * files of which one must then fail. `find` occurs once in its file.
 *
 * @typedef {{ name: string, tests: string[], file?: string, find?: string, replace?: string, sql?: string }} Guard
 */

/**
 * @param {string} name
 * @param {string} file
 * @param {string} find
 * @param {string} replace
 * @param {string[]} tests
 * @returns {Guard}
 */
export function of(name, file, find, replace, tests) {
  return { name, file, find, replace, tests };
}

/**
 * @param {string} name
 * @param {string} sql
 * @param {string[]} tests
 * @returns {Guard}
 */
export function without(name, sql, tests) {
  return { name, sql, tests };
}
