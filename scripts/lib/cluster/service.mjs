import { Failure } from '../command/index.mjs';
import { parseJson } from '../system/index.mjs';
import { until } from './client.mjs';
import { NAMESPACE, RELEASE } from './helm.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */
/** @typedef {{ id: string, path: string, state: string, state_reason: string | null, ready_workers: number }} Deployment */
/** @typedef {{ id: string, status: string, error: unknown, outputs: { url: string }[] }} Job */

const TIMEOUT_MS = 15_000;

/** A small job. */
export const SMALL_GRAPH = graphOf(64, 10);
/** One that a processor works on for tens of seconds. */
export const LONG_GRAPH = graphOf(512, 3_000);
/** One that is canceled before it ends. */
export const ENDLESS_GRAPH = graphOf(512, 100_000);

/**
 * @param {number} size
 * @param {number} steps
 */
function graphOf(size, steps) {
  const inputs = { width: size, height: size, steps, seed: 1, feed: 0.055, kill: 0.062 };
  return {
    1: { class_type: 'MillraceReactionDiffusion', inputs },
    2: { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'cluster' } },
  };
}

/** The installed service, as its operator and its customers use it: by the addresses of its Services. */
export class InstalledService {
  key = '';

  /**
   * @param {Scope} scope
   * @param {{ publicUrl: string, opsUrl: string, adminToken: string }} addresses
   */
  constructor(scope, { publicUrl, opsUrl, adminToken }) {
    this.scope = scope;
    this.publicUrl = publicUrl;
    this.opsUrl = opsUrl;
    this.adminToken = adminToken;
  }

  /**
   * @param {Scope} scope
   * @param {import('./client.mjs').Client} client
   * @param {string} adminToken
   */
  static async find(scope, client, adminToken) {
    const addressOf = async (/** @type {string} */ name) => {
      const { spec } = await client.get(`/api/v1/namespaces/${NAMESPACE}/services/${RELEASE}-${name}`);
      return spec?.clusterIP ?? '';
    };
    const publicUrl = `http://${await addressOf('api')}`;
    const service = new InstalledService(scope, {
      publicUrl,
      opsUrl: `http://${await addressOf('api-ops')}:9090`,
      adminToken,
    });
    await service.openAccount();
    return service;
  }

  async openAccount() {
    const limits = { deployment_limit: 20, deployment_worker_limit: 20 };
    const account = await this.admin('POST', '/accounts', { name: 'cluster', ...limits });
    const { id } = /** @type {{ id: string }} */ (account);
    await this.admin('POST', `/accounts/${id}/credits`, { amount_micros: 100_000_000, reason: 'cluster' });
    const made = await this.admin('POST', `/accounts/${id}/api-keys`, { name: 'cluster' });
    this.key = /** @type {{ key: string }} */ (made).key;
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {object} [body]
   */
  admin(method, path, body) {
    return ask(method, `${this.opsUrl}/admin/v1${path}`, this.adminToken, body);
  }

  /**
   * As the account, to the public listener.
   *
   * @param {string} method
   * @param {string} path
   * @param {object} [body]
   */
  send(method, path, body) {
    return ask(method, `${this.publicUrl}${path}`, this.key, body);
  }

  /**
   * @param {object} more
   * @returns {Promise<Deployment>}
   */
  deploy(more) {
    return /** @type {Promise<Deployment>} */ (
      this.send('POST', '/platform/v1/deployments', { name: 'cluster', ...more })
    );
  }

  /**
   * @param {string} id
   * @returns {Promise<Deployment>}
   */
  deployment(id) {
    return /** @type {Promise<Deployment>} */ (this.send('GET', `/platform/v1/deployments/${id}`));
  }

  /**
   * @param {string} id
   * @param {object} more
   */
  change(id, more) {
    return this.send('PATCH', `/platform/v1/deployments/${id}`, more);
  }

  /** @param {string} id */
  undeploy(id) {
    return this.send('DELETE', `/platform/v1/deployments/${id}`);
  }

  /**
   * @param {object} graph
   * @param {string} [path] of a deployment
   * @returns {Promise<Job>}
   */
  submit(graph, path = '') {
    return /** @type {Promise<Job>} */ (this.send('POST', `${path}/api/v2/jobs`, { workflow: graph }));
  }

  /**
   * @param {string} id
   * @param {string} [path]
   * @returns {Promise<Job>}
   */
  job(id, path = '') {
    return /** @type {Promise<Job>} */ (this.send('GET', `${path}/api/v2/jobs/${id}`));
  }

  /**
   * @param {string} id
   * @param {string} [path]
   */
  cancel(id, path = '') {
    return this.send('POST', `${path}/api/v2/jobs/${id}/cancel`);
  }

  /**
   * @param {string} path
   * @param {string} [origin] of one process, instead of all of them
   */
  async read(path, origin = this.publicUrl) {
    await ask('GET', `${origin}${path}`, this.key);
    return true;
  }

  /**
   * @param {string} id
   * @param {string} status
   * @param {string} [path]
   * @param {number} [limitMs]
   */
  async reaches(id, status, path = '', limitMs = 120_000) {
    return until(
      this.scope,
      `The job ${id} to be ${status}`,
      async () => {
        const job = await this.job(id, path);
        if (job.status === status) return job;
        if (['failed', 'canceled', 'expired'].includes(job.status))
          throw new Failure(`it is ${job.status}: ${JSON.stringify(job.error)}`);
        return false;
      },
      limitMs,
    );
  }

  /**
   * @param {string} id
   * @param {string} what
   * @param {(now: Deployment) => boolean} is
   * @param {number} [limitMs]
   */
  becomes(id, what, is, limitMs = 120_000) {
    return until(
      this.scope,
      `The deployment to be ${what}`,
      async () => {
        const now = await this.deployment(id);
        if (is(now)) return now;
        throw new Failure(`it is ${now.state}: ${now.state_reason ?? 'no reason given'}`);
      },
      limitMs,
    );
  }
}

/**
 * @param {string} method
 * @param {string} url
 * @param {string} token
 * @param {object} [body]
 * @returns {Promise<unknown>} the caller names its type
 * @throws {Failure} with the status and what was said
 */
async function ask(method, url, token, body) {
  const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const answer = await fetch(url, { method, headers, signal, ...(body && { body: JSON.stringify(body) }) }).catch(
    (/** @type {{ message: string, cause?: Error }} */ { message, cause }) => {
      throw new Failure(`${method} ${url} got no answer: ${cause?.message ?? message}`);
    },
  );
  const text = await answer.text();
  if (answer.ok) return text === '' ? undefined : parseJson(text);
  throw new Failure(`${method} ${url} answered ${answer.status}: ${text.slice(0, 400)}`);
}
