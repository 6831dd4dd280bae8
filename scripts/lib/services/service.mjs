import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { Failure, pause, say, sentenceOf } from '../command/index.mjs';
import { endProcess, identify } from '../system/index.mjs';
import { lastWords, openLog } from './logs.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */
/** @typedef {import('../system/processes.mjs').ProcessIdentity} ProcessIdentity */

/**
 * One long-running process of a stack.
 *
 * @typedef {{
 *   role: string,
 *   name: string,
 *   commandLine: string[],
 *   options?: { cwd?: string, env?: NodeJS.ProcessEnv, uid?: number, gid?: number },
 *   ipc?: boolean,
 *   onMessage?: (message: unknown) => void,
 *   logFile: string,
 *   isReady: (pid: number) => Promise<boolean>,
 *   readiness?: () => Promise<string>,
 *   stopSteps: import('../system/processes.mjs').StopStep[],
 * }} ServiceSpec
 * `name` is unique among those of one role. `ipc`: the process ends when this one is gone. `readiness`: what it says itself of why it is
 * not ready.
 */

/**
 * Called when the pid of a service changed, and when it cannot be kept alive.
 *
 * @typedef {{ changed: () => void, lost: (failure: Failure) => void }} Watcher
 */

const READY_LIMIT_MS = 180_000;
const READY_POLL_MS = 20;
/** An end within this time of becoming ready, by the process itself, counts towards giving up. */
const QUICK_MS = 10_000;
const QUICK_DEATHS_LIMIT = 5;
const FIRST_BACKOFF_MS = 100;
const LAST_BACKOFF_MS = 5_000;

/** A process that is started, watched, started again when it dies, and stopped. */
export class Service {
  #stopping = new AbortController();
  #quickDeaths = 0;
  #backoffMs = FIRST_BACKOFF_MS;
  /** @type {ProcessIdentity | undefined} */
  #identity;

  /**
   * @param {ServiceSpec} spec
   * @param {Watcher} watcher
   */
  constructor(spec, watcher) {
    this.spec = spec;
    this.watcher = watcher;
  }

  /** The running process; undefined between a death and the next start. */
  get identity() {
    return this.#identity;
  }

  /**
   * Start it and wait until it is ready. From then on its death is answered with a new start. After `stop` it may be started
   * again.
   *
   * @param {Scope} scope
   * @throws {Failure} when it ends or hangs before it is ready
   */
  async start(scope) {
    if (this.#stopping.signal.aborted) this.#stopping = new AbortController();
    this.#quickDeaths = 0;
    this.#backoffMs = FIRST_BACKOFF_MS;
    const { signal } = this.#stopping;
    const { ended } = await this.#launch(AbortSignal.any([scope.signal, signal]));
    void this.#keepAlive(ended, signal);
  }

  /** @param {AbortSignal} [hurry] */
  async stop(hurry) {
    this.#stopping.abort(new Failure(`${this.spec.name} was stopped.`));
    if (this.#identity && !(await endProcess(this.#identity, this.spec.stopSteps, hurry))) {
      throw new Failure(`${this.spec.name} (pid ${this.#identity.pid}) could not be stopped: end it yourself.`);
    }
    this.#identity = undefined;
  }

  /**
   * @param {AbortSignal} signal
   * @returns {Promise<{ ended: Promise<Death> }>} settles when ready; `ended` does when the process ends
   */
  async #launch(signal) {
    signal.throwIfAborted();
    const { logFile, isReady } = this.spec;
    const { fd, from } = openLog(logFile);
    const child = this.#spawn(fd);
    closeSync(fd);
    /** @type {Death | undefined} */
    let death;
    const ended = new Promise((/** @type {(death: Death) => void} */ resolve) => {
      const end = (/** @type {string} */ how) => resolve((death ??= { how, byItself: child.exitCode !== null, from }));
      child.on('error', (error) => end(error.message));
      child.on('exit', (code, by) => end(by ? `was ended by ${by}` : `ended with code ${code}`));
    });
    if (child.pid !== undefined) this.#identity = identify(child.pid);
    this.watcher.changed();
    const deadline = Date.now() + READY_LIMIT_MS;
    while (!(child.pid !== undefined && (await isReady(child.pid)))) {
      signal.throwIfAborted();
      if (death) throw this.#failureOf(death);
      if (Date.now() > deadline) throw await this.#lateness();
      await pause(READY_POLL_MS, signal);
    }
    return { ended };
  }

  /** @param {number} fd */
  #spawn(fd) {
    const { commandLine, options, ipc } = this.spec;
    const [command = '', ...args] = commandLine;
    // Its own process group: a terminal's Ctrl-C reaches this process alone, which then stops the rest in order.
    const child = spawn(command, args, {
      ...options,
      detached: true,
      stdio: ipc ? ['ignore', fd, fd, 'ipc'] : ['ignore', fd, fd],
    });
    const { onMessage } = this.spec;
    if (onMessage) {
      child.on('message', (message) => {
        onMessage(message);
        this.watcher.changed();
      });
    }
    child.channel?.unref();
    return child;
  }

  async #lateness() {
    const { name, logFile, readiness } = this.spec;
    const reason = await readiness?.();
    return new Failure(`${name} was not ready within three minutes${reason ? ` (${reason})` : ''}; see ${logFile}.`);
  }

  /**
   * @param {Death} death
   * @param {string} [what]
   */
  #failureOf({ how, from }, what = 'could not start') {
    const { name, logFile } = this.spec;
    const words = lastWords(logFile, from) || `it ${how}; see ${logFile}.`;
    return new Failure(`${name} ${what}: ${words}`);
  }

  /**
   * @param {Promise<Death>} firstEnd
   * @param {AbortSignal} signal of the stop that ends this
   */
  async #keepAlive(firstEnd, signal) {
    let ended = firstEnd;
    try {
      for (;;) {
        const readyAt = Date.now();
        const death = await ended;
        signal.throwIfAborted();
        this.#noteDeath(death, Date.now() - readyAt);
        ({ ended } = await this.#revive(signal));
      }
    } catch (error) {
      if (signal.aborted) return;
      this.watcher.lost(
        error instanceof Failure ? error : new Failure(`${this.spec.name} was lost: ${sentenceOf(error)}`),
      );
    }
  }

  /**
   * @param {Death} death
   * @param {number} livedMs
   * @throws {Failure} when it dies too often
   */
  #noteDeath(death, livedMs) {
    if (livedMs > QUICK_MS) {
      this.#quickDeaths = 0;
      this.#backoffMs = FIRST_BACKOFF_MS;
    } else if (death.byItself) this.#quickDeaths += 1;
    if (this.#quickDeaths >= QUICK_DEATHS_LIMIT) throw this.#failureOf(death, 'does not stay up');
    say(`${this.spec.name} ${death.how}; starting it again.`);
  }

  /**
   * Start again until it is ready, each time after a longer pause.
   *
   * @param {AbortSignal} signal
   */
  async #revive(signal) {
    for (;;) {
      await pause(this.#backoffMs, signal);
      this.#backoffMs = Math.min(LAST_BACKOFF_MS, this.#backoffMs * 2);
      try {
        return await this.#launch(signal);
      } catch (error) {
        this.#quickDeaths += 1;
        if (signal.aborted || this.#quickDeaths >= QUICK_DEATHS_LIMIT) throw error;
      }
    }
  }
}

/** @typedef {{ how: string, byItself: boolean, from: number }} Death */
