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
 * The address of the console, with a link that signs in to it once: as the API key, or where there are none as the account of
 * the self-hosted surface. Without a link where the account is suspended.
 *
 * @param {Addresses} addresses
 * @param {string} apiKey
 * @param {'cloud' | 'self_hosted'} surface
 * @returns {Promise<string>}
 */
export async function consoleUrlOf(addresses, apiKey, surface) {
  const answer = await askForAccount(addresses.publicUrl, apiKey);
  const account = /** @type {{ id: string, key: { id: string | null } }} */ (await answer.json());
  if (!answer.ok) return `${addresses.publicUrl}/console/`;
  const { id, key } = account;
  const body = surface === 'cloud' ? { api_key_id: key.id } : {};
  return String((await callAdmin(addresses, `accounts/${id}/sign-in-links`, body)).url);
}

/**
 * @param {string} publicUrl
 * @param {string} key
 */
async function isAccepted(publicUrl, key) {
  const response = await askForAccount(publicUrl, key);
  await response.arrayBuffer();
  return response.status !== UNAUTHORIZED;
}

/**
 * @param {string} publicUrl
 * @param {string} key
 */
function askForAccount(publicUrl, key) {
  // A connection that stays open keeps the API from ending for two seconds when the stack is stopped.
  const headers = { authorization: `Bearer ${key}`, connection: 'close' };
  return fetch(`${publicUrl}/platform/v1/account`, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
}

/**
 * @param {Pick<Addresses, 'opsUrl' | 'adminToken'>} addresses
 * @param {string} path
 * @param {object} body
 * @returns {Promise<Record<string, unknown>>}
 */
export async function callAdmin({ opsUrl, adminToken }, path, body) {
  const response = await fetch(`${opsUrl}/admin/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (response.ok) return /** @type {Promise<Record<string, unknown>>} */ (response.json());
  throw new Failure(`The admin API refused ${path} with status ${response.status}: ${await response.text()}`);
}
