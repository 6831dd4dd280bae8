import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { Failure, pause } from '../command/index.mjs';
import { parseJson } from '../system/index.mjs';

/**
 * An object of the Kubernetes API, as far as tests look into it.
 *
 * @typedef {{
 *   apiVersion?: string,
 *   kind?: string,
 *   metadata: {
 *     name: string,
 *     namespace?: string,
 *     uid?: string,
 *     labels?: Record<string, string>,
 *     annotations?: Record<string, string>,
 *     deletionTimestamp?: string,
 *     creationTimestamp?: string,
 *   },
 *   spec?: { clusterIP?: string, containers?: { image: string }[] },
 *   status?: {
 *     phase?: string,
 *     podIP?: string,
 *     readyReplicas?: number,
 *     conditions?: { type: string, status: string, message?: string }[],
 *     containerStatuses?: { name: string, ready: boolean, state: object }[],
 *   },
 *   data?: Record<string, string>,
 *   type?: string,
 * }} KubernetesObject
 */

const TIMEOUT_MS = 30_000;
const POLL_MS = 200;

/** What the API server answered instead of success. */
class Refusal extends Failure {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** The API server, asked as one who may do everything. */
export class Client {
  /** @param {{ url: string, token: string, caFile: string }} access */
  constructor({ url, token, caFile }) {
    this.url = url;
    this.token = token;
    this.agent = new Agent({ keepAlive: true, ca: readFileSync(caFile) });
  }

  /**
   * @param {string} path
   * @returns {Promise<KubernetesObject>}
   * @throws {Refusal}
   */
  async get(path) {
    return /** @type {KubernetesObject} */ (parseJson(await this.send('GET', path)));
  }

  /**
   * @param {string} path
   * @returns {Promise<KubernetesObject[]>}
   */
  async list(path) {
    const { items } = /** @type {{ items: KubernetesObject[] }} */ (parseJson(await this.send('GET', path)));
    return items;
  }

  /**
   * Make an object, or make it so (server-side apply).
   *
   * @param {string} path of the object itself
   * @param {object} object
   * @param {{ dryRun?: boolean }} [options]
   */
  async apply(path, object, { dryRun = false } = {}) {
    const query = `fieldManager=test&force=true&fieldValidation=Strict${dryRun ? '&dryRun=All' : ''}`;
    return this.send('PATCH', `${path}?${query}`, object, 'application/apply-patch+yaml');
  }

  /**
   * @param {string} path
   * @param {object} patch
   */
  async patch(path, patch) {
    return this.send('PATCH', path, patch, 'application/merge-patch+json');
  }

  /**
   * @param {string} path
   * @param {object} body
   */
  async post(path, body) {
    return this.send('POST', path, body);
  }

  /**
   * @param {string} path
   * @param {object} [body]
   */
  async delete(path, body) {
    try {
      await this.send('DELETE', path, body);
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 404) throw error;
    }
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {object} [body]
   * @param {string} [contentType]
   * @returns {Promise<string>} the body of the answer
   * @throws {Refusal} status 0 where there was no answer
   */
  send(method, path, body, contentType = 'application/json') {
    const text = body === undefined ? '' : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${this.token}`,
      accept: 'application/json',
      'content-type': contentType,
      'content-length': Buffer.byteLength(text),
    };
    const failed = (/** @type {Error} */ error) => new Refusal(0, `${method} ${path}: ${error.message}`);
    return new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const sent = request(new URL(path, this.url), { method, headers, agent: this.agent, signal }, (answer) => {
        const status = answer.statusCode ?? 0;
        let read = '';
        answer.setEncoding('utf8').on('data', (part) => (read += part));
        answer.on('error', (error) => reject(failed(error)));
        answer.on('end', () => {
          if (status >= 200 && status < 300) resolve(read);
          else reject(new Refusal(status, `${method} ${path} was answered ${status}: ${reasonIn(read)}`));
        });
      });
      sent.on('error', (error) => reject(failed(error)));
      sent.end(text);
    });
  }
}

/**
 * @param {string} answer
 * @returns {string} what a Status says, or the beginning of anything else
 */
function reasonIn(answer) {
  try {
    const { message } = /** @type {{ message?: string }} */ (parseJson(answer));
    return message ?? answer.slice(0, 500);
  } catch {
    return answer.slice(0, 500);
  }
}

/**
 * Wait for a fact of the cluster.
 *
 * @template T
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {string} what it is, for the failure
 * @param {() => Promise<T | false | undefined | null>} look
 * @param {number} [limitMs]
 * @returns {Promise<T>}
 * @throws {Failure} saying what did not come about
 */
export async function until(scope, what, look, limitMs = 120_000) {
  const deadline = Date.now() + limitMs;
  let last = '';
  for (;;) {
    scope.check();
    try {
      const found = await look();
      if (found) return found;
    } catch (error) {
      last = ` (last: ${/** @type {Error} */ (error).message})`;
    }
    if (Date.now() > deadline) throw new Failure(`${what} did not come about within ${limitMs / 1_000} s${last}.`);
    await pause(POLL_MS, scope.signal);
  }
}
