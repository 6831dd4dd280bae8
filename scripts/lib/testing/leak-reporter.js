/** In what jest says when it has to kill a worker of its own. */
const KILLED = 'failed to exit gracefully';
/** A process that closes everything exits at once; a busy machine takes longer. */
const EXIT_LIMIT_MS = 30_000;

/**
 * A reporter for jest that fails a run whose tests left something open: a timer, a connection, a thread, a process. Jest itself
 * only prints a line when it kills a worker for that, and waits forever where it runs the tests in its own process.
 */
module.exports = class LeakReporter {
  /** Whether a worker of this process's run was found with something open. */
  static found = false;

  /** @type {Error | undefined} */
  #leak;
  /** @type {number} */
  #exitLimitMs;

  /** @type {boolean} */
  #goesOn;

  /**
   * @param {{ watch: boolean, watchAll: boolean }} config
   * @param {{ exitLimitMs?: number }} [options] `exitLimitMs`: how long after the tests jest's own process may take to exit
   */
  constructor({ watch, watchAll }, { exitLimitMs = EXIT_LIMIT_MS } = {}) {
    this.#goesOn = watch || watchAll;
    this.#exitLimitMs = exitLimitMs;
  }

  onRunStart() {
    const print = console.error;
    console.error = (...parts) => {
      if (String(parts[0]).includes(KILLED)) {
        this.#leak = new Error('a test file left something open');
        LeakReporter.found = true;
      }
      print(...parts);
    };
  }

  /** An error fails the run. */
  getLastError() {
    return this.#leak;
  }

  onRunComplete() {
    if (this.#goesOn) return;
    setTimeout(() => {
      const open = process.getActiveResourcesInfo().join(', ') || 'a thread';
      console.error(`The tests are over, and something is still open: ${open}. Look for it with --detectOpenHandles.`);
      process.exit(1);
    }, this.#exitLimitMs).unref();
  }
};
