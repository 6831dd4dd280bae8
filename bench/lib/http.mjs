import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { parseJson } from '../../scripts/lib/system/index.mjs';
import { BODY } from './graph.mjs';

/**
 * @typedef {{ method: string, path: string, key: string, body?: string, headers?: Record<string, string> }} Call
 * @typedef {{ status: number, text: string, headers: Record<string, string | string[] | undefined> }} Answer
 * @typedef {(call: Call) => Promise<Answer>} Send
 */

/**
 * A client of the public API that keeps its connections. It is as light as possible: on a machine of few cores the server
 * lacks the processor time that its clients take.
 *
 * @param {string} publicUrl
 * @param {number} connections at most
 * @returns {Send}
 */
export function openClient(publicUrl, connections) {
  const pool = new Pool(publicUrl, { connections });
  return ({ method, path, key, body, headers = {} }) => {
    const content = body === undefined ? {} : { 'content-type': 'application/json' };
    const all = { authorization: `Bearer ${key}`, ...content, ...headers };
    return new Promise((resolve, reject) => {
      pool.dispatch({ method, path, body, headers: all }, new AnswerHandler(resolve, reject));
    });
  };
}

/** Collects an answer. Without a stream for its body, which is a quarter of what a request costs the client. */
class AnswerHandler {
  #status = 0;
  /** @type {Answer['headers']} */
  #headers = {};
  /** @type {Buffer[]} */
  #chunks = [];

  /**
   * @param {(answer: Answer) => void} resolve
   * @param {(error: Error) => void} reject
   */
  constructor(resolve, reject) {
    this.resolve = resolve;
    this.reject = reject;
  }

  onRequestStart() {}

  /**
   * @param {import('undici').Dispatcher.DispatchController} _controller
   * @param {number} status
   * @param {Answer['headers']} headers
   */
  onResponseStart(_controller, status, headers) {
    this.#status = status;
    this.#headers = headers;
  }

  /**
   * @param {import('undici').Dispatcher.DispatchController} _controller
   * @param {Buffer} chunk
   */
  onResponseData(_controller, chunk) {
    this.#chunks.push(chunk);
  }

  onResponseEnd() {
    this.resolve({ status: this.#status, text: Buffer.concat(this.#chunks).toString(), headers: this.#headers });
  }

  /**
   * @param {import('undici').Dispatcher.DispatchController} _controller
   * @param {Error} error
   */
  onResponseError(_controller, error) {
    this.reject(error);
  }
}

/**
 * `POST /jobs`, of the twenty nodes where no other body is given.
 *
 * @param {string} key
 * @param {string} [body]
 * @returns {Call}
 */
export const submission = (key, body = BODY) => ({ method: 'POST', path: '/api/v2/jobs', key, body });

/**
 * Submit a job with a key of idempotency of its own.
 *
 * @param {Send} send
 * @param {string} key
 * @param {string} [body] of the twenty nodes where it is not given
 * @returns {Promise<string>} its id
 * @throws when it is refused
 */
export async function submit(send, key, body) {
  const { status, text } = await send({ ...submission(key, body), headers: { 'idempotency-key': randomUUID() } });
  if (status !== 201) throw new Error(`a submission was refused: ${status} ${text}`);
  return /** @type {{ id: string }} */ (parseJson(text)).id;
}
