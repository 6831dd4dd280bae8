import { Failure } from '../command/index.mjs';

/** @typedef {import('../stack/stack.mjs').RunFile} RunFile */

/**
 * Ask the public API as the account.
 *
 * @param {RunFile} run
 * @param {string} method
 * @param {string} path
 * @param {object | string} [body]
 */
export function call({ publicUrl, apiKey }, method, path, body) {
  return send(`${publicUrl}${path}`, method, apiKey, body);
}

/**
 * Ask the admin API to do something.
 *
 * @param {RunFile} run
 * @param {string} path
 * @param {object} body
 */
export function admin({ opsUrl, adminToken }, path, body) {
  return send(`${opsUrl}/admin/v1/${path}`, 'POST', adminToken, body);
}

/**
 * @param {string} url
 * @param {string} method
 * @param {string} token
 * @param {object | string} [body]
 * @returns {Promise<Record<string, unknown>>}
 * @throws {Failure} with the answer, where it is no success
 */
async function send(url, method, token, body) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(url, {
    method,
    headers,
    ...(body ? { body: typeof body === 'string' ? body : JSON.stringify(body) } : {}),
  });
  if (response.ok) return /** @type {Promise<Record<string, unknown>>} */ (response.json());
  throw new Failure(`${method} ${url} was answered ${response.status}: ${await response.text()}`);
}
