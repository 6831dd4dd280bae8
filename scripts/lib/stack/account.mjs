import { Failure, say } from '../command/index.mjs';

const UNAUTHORIZED = 401;
const NOT_FOUND = 404;
const UNPROCESSABLE = 422;
const TIMEOUT_MS = 15_000;
/** A thousand credits: days of engine time at the default price. */
const CREDIT_MICROS = 1_000_000_000;

/**
 * @typedef {{ publicUrl: string, opsUrl: string, adminToken: string }} Addresses
 * @typedef {{ apiKey?: string | undefined, accountId?: string | undefined }} Access
 */

/**
 * An account with credits, and an API key of it: those kept from an earlier start. A key that has ended is replaced by another of
 * that account; a new account is made only where there is none, where the database has not the one that was kept, or it takes no more keys.
 *
 * @param {Addresses} addresses
 * @param {Access} kept
 * @returns {Promise<Required<Access>>}
 */
export async function obtainAccess(addresses, { apiKey, accountId }) {
  if (apiKey) {
    const answer = await askForAccount(addresses.publicUrl, apiKey);
    const { id = accountId ?? '' } = /** @type {{ id?: string }} */ (await answer.json());
    // An answer that is refused otherwise, such as to a suspended account, comes to a key that works.
    if (answer.status !== UNAUTHORIZED) return { apiKey, accountId: id };
  }
  const again = accountId ? await makeKey(addresses, accountId) : { reason: 'is not known any more' };
  if (accountId && 'apiKey' in again) {
    say('  The API key of the last start has ended: the account has another one.');
    return { apiKey: again.apiKey, accountId };
  }
  if (apiKey && 'reason' in again) say(`  The account of the last start ${again.reason}: there is a new one.`);
  const id = String((await callAdmin(addresses, 'accounts', { name: 'Local account' })).id);
  await callAdmin(addresses, `accounts/${id}/credits`, { amount_micros: CREDIT_MICROS, reason: 'Local stack' });
  const first = await makeKey(addresses, id);
  if ('apiKey' in first) return { apiKey: first.apiKey, accountId: id };
  throw new Failure(`The account that the admin API has just made ${first.reason}.`);
}

/**
 * @param {Addresses} addresses
 * @param {string} accountId
 * @returns {Promise<{ apiKey: string } | { reason: string }>} why the account has no other key
 */
async function makeKey(addresses, accountId) {
  const response = await askAdmin(addresses, `accounts/${accountId}/api-keys`, { name: 'local' });
  if (response.status === NOT_FOUND) return { reason: 'is not known any more' };
  if (response.status === UNPROCESSABLE)
    return { reason: 'has as many API keys as it may, of which this one is none any more' };
  return { apiKey: String((await answerOf(response)).key) };
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
export async function callAdmin(addresses, path, body) {
  return answerOf(await askAdmin(addresses, path, body));
}

/**
 * @param {Pick<Addresses, 'opsUrl' | 'adminToken'>} addresses
 * @param {string} path
 * @param {object} body
 */
function askAdmin({ opsUrl, adminToken }, path, body) {
  return fetch(`${opsUrl}/admin/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
}

/**
 * @param {Response} response of the admin API
 * @returns {Promise<Record<string, unknown>>}
 */
async function answerOf(response) {
  if (response.ok) return /** @type {Promise<Record<string, unknown>>} */ (response.json());
  const { pathname } = new URL(response.url);
  throw new Failure(`The admin API refused ${pathname} with status ${response.status}: ${await response.text()}`);
}
