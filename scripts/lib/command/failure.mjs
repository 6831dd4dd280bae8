/** A command's end that the user can act on: the message is one sentence naming the thing and the cure. */
export class Failure extends Error {
  /**
   * @param {string} message
   * @param {{ exitCode?: number, cause?: unknown }} [options]
   */
  constructor(message, { exitCode = 1, cause } = {}) {
    super(message, { cause });
    this.name = 'Failure';
    this.exitCode = exitCode;
  }
}

/** Number of each signal that ends a command; a shell adds 128 to it for the exit code. */
const SIGNAL_NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };

/** @typedef {keyof typeof SIGNAL_NUMBERS} EndingSignal */

export const ENDING_SIGNALS = /** @type {EndingSignal[]} */ (Object.keys(SIGNAL_NUMBERS));

/** A command stopped from outside. */
export class Interrupted extends Failure {
  /** @param {EndingSignal} signal */
  constructor(signal) {
    super('Interrupted; everything that was started is stopped.', { exitCode: 128 + SIGNAL_NUMBERS[signal] });
    this.name = 'Interrupted';
  }
}

/** What the operating system's refusals mean for the user of a command. */
const SYSTEM_SENTENCES = /** @type {Record<string, (path: string) => string>} */ ({
  ENOSPC: (path) => `The disk is full${path && ` (writing ${path})`}: free some space and run the command again.`,
  EDQUOT: (path) =>
    `The disk quota is used up${path && ` (writing ${path})`}: free some space and run the command again.`,
  EROFS: (path) => `The file system is read-only${path && ` at ${path}`}: choose a writable folder.`,
  EACCES: (path) => `Permission denied${path && ` at ${path}`}: run as the folder's owner or choose another folder.`,
  EPERM: (path) => `Not permitted${path && ` at ${path}`}: run as the folder's owner or choose another folder.`,
  ENOTDIR: (path) => `A file is in the way of a folder${path && ` at ${path}`}: remove it or choose another folder.`,
  EEXIST: (path) => `A file is in the way of a folder${path && ` at ${path}`}: remove it or choose another folder.`,
  EMFILE: () => 'Too many open files: raise the limit (ulimit -n) and run the command again.',
});

/**
 * Reduce any error to one sentence.
 *
 * @param {unknown} error
 * @returns {string}
 */
export function sentenceOf(error) {
  if (error instanceof Failure) return error.message;
  const { code, path, message } = /** @type {NodeJS.ErrnoException} */ (error ?? {});
  const sentence = code === undefined ? undefined : SYSTEM_SENTENCES[code];
  if (sentence) return sentence(path ?? '');
  if (code !== undefined && path !== undefined) return `${path} cannot be used (${code}): choose another folder.`;
  return `Unexpected failure: ${String(message ?? error).split('\n')[0]}`;
}

/**
 * What a tool's output says about a refusal of the operating system, where it names one.
 *
 * @param {string} output
 * @returns {string | undefined}
 */
export function systemSentenceIn(output) {
  if (/No space left on device|ENOSPC/.test(output)) return SYSTEM_SENTENCES.ENOSPC?.('');
  if (/Disk quota exceeded|EDQUOT/.test(output)) return SYSTEM_SENTENCES.EDQUOT?.('');
  if (/Read-only file system|EROFS/.test(output)) return SYSTEM_SENTENCES.EROFS?.('');
  return undefined;
}
