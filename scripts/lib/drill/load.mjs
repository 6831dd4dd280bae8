import { setTimeout as sleep } from 'node:timers/promises';

const CALL_MS = 15_000;
const CLIENTS = 2;
const PAUSE_MS = 250;
/** One job in so many takes long enough that one always runs when the stack is lost. */
const LONG_EVERY = 5;

/**
 * A job that the service has acknowledged; `atMs`: when its answer had come.
 *
 * @typedef {{ id: string, atMs: number }} Acknowledged
 */

/** Clients of a stack that submit jobs one after the other, and remember what they were answered. */
export class Load {
  /** @type {Acknowledged[]} */
  acknowledged = [];
  #stopping = new AbortController();
  #count = 0;
  /** @type {Promise<unknown> | undefined} */
  #clients;

  /** @param {{ publicUrl: string, apiKey: string }} stack */
  constructor(stack) {
    this.stack = stack;
  }

  begin() {
    this.#clients = Promise.all(Array.from({ length: CLIENTS }, () => this.#submitOn()));
  }

  async stop() {
    this.#stopping.abort();
    await this.#clients;
  }

  async #submitOn() {
    while (!this.#stopping.signal.aborted) {
      this.#count += 1;
      const id = await submit(this.stack, graphOf(this.#count)).catch(() => undefined);
      if (id !== undefined) this.acknowledged.push({ id, atMs: Date.now() });
      await sleep(PAUSE_MS);
    }
  }
}

/** @param {number} nth each has a picture of its own */
export function graphOf(nth) {
  const long = nth % LONG_EVERY === 0;
  const coral = { width: 128, height: 128, steps: 2_000, seed: nth, feed: 0.0545, kill: 0.062, palette: 'lagoon' };
  const plain = { width: 64, height: 64, batch_size: 1, color: nth };
  const source = long
    ? { class_type: 'MillraceReactionDiffusion', inputs: coral }
    : { class_type: 'EmptyImage', inputs: plain };
  return { 1: source, 2: { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'drill' } } };
}

/**
 * @param {{ publicUrl: string, apiKey: string }} stack
 * @param {string} path
 * @param {object} [body] absent: a GET
 */
export function call({ publicUrl, apiKey }, path, body) {
  return fetch(`${publicUrl}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(CALL_MS),
  });
}

/**
 * @param {{ publicUrl: string, apiKey: string }} stack
 * @param {object} workflow
 * @returns {Promise<string>} the job's id
 * @throws {Error} when it is not accepted
 */
export async function submit(stack, workflow) {
  const answer = await call(stack, '/api/v2/jobs', { workflow });
  const body = /** @type {{ id: string }} */ (await answer.json());
  if (!answer.ok) throw new Error(`A submission was answered with ${answer.status}: ${JSON.stringify(body)}`);
  return body.id;
}
