/**
 * @typedef {Pick<import('../../scripts/lib/stack/stack.mjs').RunFile, 'publicUrl' | 'opsUrl' | 'adminToken' | 'databaseUrl'>} Stack
 * @typedef {{ id: string, key: string }} Account
 */

const QUEUE_LIMIT = 1_000_000;
const CREDIT_MICROS = 1_000_000_000_000;

/**
 * Accounts with a key and more credits than a bench can spend, made over the admin API.
 *
 * @param {Pick<Stack, 'opsUrl' | 'adminToken'>} stack
 * @param {number} count
 * @returns {Promise<Account[]>}
 */
export async function makeAccounts(stack, count) {
  const accounts = [];
  while (accounts.length < count) accounts.push(await makeAccount(stack));
  return accounts;
}

/**
 * @param {Pick<Stack, 'opsUrl' | 'adminToken'>} stack
 * @returns {Promise<Account>}
 */
async function makeAccount({ opsUrl, adminToken }) {
  const admin = async (/** @type {string} */ path, /** @type {object} */ body) => {
    const response = await fetch(`${opsUrl}/admin/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return /** @type {{ id: string, key: string }} */ (await response.json());
  };
  const { id } = await admin('/accounts', { name: 'bench', queue_limit: QUEUE_LIMIT });
  await admin(`/accounts/${id}/credits`, { amount_micros: CREDIT_MICROS, reason: 'bench' });
  const { key } = await admin(`/accounts/${id}/api-keys`, { name: 'bench' });
  return { id, key };
}

/**
 * One of many, by chance.
 *
 * @template T
 * @param {readonly T[]} many
 * @returns {T}
 */
export function anyOf(many) {
  const one = many[Math.floor(Math.random() * many.length)];
  if (one === undefined) throw new Error('nothing is prepared');
  return one;
}
