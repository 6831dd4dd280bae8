import process from 'node:process';
import util from 'node:util';
import { Failure } from './failure.mjs';
import { say } from './terminal.mjs';

const USAGE_EXIT_CODE = 2;

/** @typedef {NonNullable<import('node:util').ParseArgsConfig['options']>} FlagOptions */

/**
 * Read the command line; `--help` prints the help and ends the command.
 *
 * @template {FlagOptions} T
 * @param {string} help
 * @param {T} options
 * @throws {Failure} one sentence, exit code 2
 */
export function readFlags(help, options) {
  return readCommandLine(help, options, false).values;
}

/**
 * The same, with the words that belong to no flag.
 *
 * @template {FlagOptions} T
 * @param {string} help
 * @param {T} options
 * @param {boolean} [allowPositionals]
 * @throws {Failure} one sentence, exit code 2
 */
export function readCommandLine(help, options, allowPositionals = true) {
  try {
    const all = { ...options, help: { type: /** @type {const} */ ('boolean') } };
    const { values, positionals } = util.parseArgs({ options: all, allowPositionals });
    if (/** @type {{ help?: boolean }} */ (values).help) {
      say(help);
      process.exit(0);
    }
    return { values, words: positionals };
  } catch (error) {
    throw misuse(String(/** @type {Error} */ (error).message).split('. ')[0] ?? '');
  }
}

/** @param {string} reason */
export function misuse(reason) {
  return new Failure(`${reason}; --help lists what there is.`, { exitCode: USAGE_EXIT_CODE });
}

/**
 * @param {string} flag
 * @param {string | undefined} value
 * @param {{ fallback: number, least: number, most: number }} bounds
 */
export function wholeNumber(flag, value, { fallback, least, most }) {
  if (value === undefined) return fallback;
  const number = /^\d+$/.test(value) ? Number(value) : NaN;
  if (number >= least && number <= most) return number;
  throw misuse(`${flag} takes a whole number from ${least} to ${most}, not «${value}»`);
}

/**
 * @template {string} T
 * @param {string} flag
 * @param {string} value
 * @param {readonly T[]} choices
 * @returns {T}
 */
export function oneOf(flag, value, choices) {
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  throw misuse(`${flag} takes ${choices.join(' or ')}, not «${value}»`);
}
