/** @typedef {(hurry: AbortSignal) => void | Promise<void>} Stop */

/**
 * What one command holds: how it learns that it should end, and what it must undo when it does. Things are undone in the
 * reverse of the order in which they were begun, each of them even when another one fails.
 */
export class Scope {
  #ending = new AbortController();
  #hurrying = new AbortController();
  /** @type {Set<Stop>} */
  #stops = new Set();

  /** Aborts when the command should end; the reason is a `Failure`. */
  get signal() {
    return this.#ending.signal;
  }

  /** Aborts when the user has asked a second time: what still runs is then killed. */
  get hurry() {
    return this.#hurrying.signal;
  }

  /** @param {Error} reason */
  end(reason) {
    this.#ending.abort(reason);
  }

  endNow() {
    this.#hurrying.abort();
  }

  /** @throws the reason, when the command should end. */
  check() {
    this.signal.throwIfAborted();
  }

  /**
   * Remember how to undo something.
   *
   * @param {Stop} stop
   * @returns {() => Promise<void>} undoes it now, and not again at the end
   */
  defer(stop) {
    /** @type {Stop} */
    const once = (hurry) => stop(hurry);
    this.#stops.add(once);
    return async () => {
      if (this.#stops.delete(once)) await once(this.hurry);
    };
  }

  /**
   * Do a piece of work in a scope of its own, so that nothing it began is left when it is done.
   *
   * @template T
   * @param {(own: Scope) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async within(work) {
    this.check();
    const own = new Scope();
    const end = () => own.end(reasonOf(this.signal));
    const hurry = () => own.endNow();
    this.signal.addEventListener('abort', end);
    this.hurry.addEventListener('abort', hurry);
    const close = this.defer(async () => {
      this.signal.removeEventListener('abort', end);
      for (const failure of await own.close()) throw failure;
      this.hurry.removeEventListener('abort', hurry);
    });
    try {
      return await work(own);
    } finally {
      await close();
    }
  }

  /**
   * Undo everything.
   *
   * @returns {Promise<unknown[]>} what failed
   */
  async close() {
    const failures = [];
    for (const stop of [...this.#stops].reverse()) {
      this.#stops.delete(stop);
      try {
        await stop(this.hurry);
      } catch (error) {
        failures.push(error);
      }
    }
    return failures;
  }

  /**
   * Wait, unless the command should end.
   *
   * @param {number} waitMs
   */
  async pause(waitMs) {
    await pause(waitMs, this.signal);
    this.check();
  }
}

/**
 * Wait; `signal` cuts the wait short without an error.
 *
 * @param {number} waitMs
 * @param {AbortSignal} [signal]
 * @returns {Promise<void>}
 */
export function pause(waitMs, signal) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, signal?.aborted ? 0 : waitMs);
    signal?.addEventListener('abort', done);
  });
}

/**
 * Why a signal was aborted. Scopes end with errors only, which the type of a signal does not say.
 *
 * @param {AbortSignal} signal that is aborted
 * @returns {Error}
 */
export function reasonOf(signal) {
  /** @type {unknown} */
  const reason = signal.reason;
  return /** @type {Error} */ (reason);
}
