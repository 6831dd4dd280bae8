import { Failure } from '../command/index.mjs';

const UNAUTHORIZED = 401;
const TIMEOUT_MS = 15_000;
/** A thousand credits: days of engine time at the default price. */
const CREDIT_MICROS = 1_000_000_000;

/**
 * @typedef {{ publicUrl: string, opsUrl: string, adminToken: string }} Addresses
 */

/**
 * An API key of an account with credits: the one kept from an earlier start where it still works, else a new account's.
 *
 * @param {Addresses} addresses
 * @param {string | undefined} kept
 * @returns {Promise<string>}
 */
export async function obtainApiKey(addresses, kept) {
  if (kept && (await isAccepted(addresses.publicUrl, kept))) return kept;
  const account = await callAdmin(addresses, 'accounts', { name: 'Local account' });
  const path = `accounts/${String(account.id)}`;
  await callAdmin(addresses, `${path}/credits`, { amount_micros: CREDIT_MICROS, reason: 'Local stack' });
  const { key } = await callAdmin(addresses, `${path}/api-keys`, { name: 'local' });
  if (typeof key === 'string') return key;
  throw new Failure('The admin API made an API key and did not show it.');
}

/**
 * @param {string} publicUrl
 * @param {string} key
 */
async function isAccepted(publicUrl, key) {
  const response = await fetch(`${publicUrl}/platform/v1/account`, {
    headers: { authorization: `Bearer ${key}` },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.arrayBuffer();
  return response.status !== UNAUTHORIZED;
}

/**
 * @param {Addresses} addresses
 * @param {string} path
 * @param {object} body
 * @returns {Promise<Record<string, unknown>>}
 */
async function callAdmin({ opsUrl, adminToken }, path, body) {
  const response = await fetch(`${opsUrl}/admin/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (response.ok) return /** @type {Promise<Record<string, unknown>>} */ (response.json());
  throw new Failure(`The admin API refused ${path} with status ${response.status}: ${await response.text()}`);
}
