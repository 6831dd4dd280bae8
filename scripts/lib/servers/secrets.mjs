import { randomBytes } from 'node:crypto';
import { readJson, writeJson } from '../system/index.mjs';

/**
 * What one data folder keeps for good. `secretKey` is the base64 of 32 bytes; `apiKey` and `accountId` are there once
 * the stack made itself an account, `workerToken` once it had workers that join by a gateway.
 *
 * @typedef {{
 *   postgresPassword: string,
 *   redisPassword: string,
 *   adminToken: string,
 *   secretKey: string,
 *   apiKey?: string,
 *   accountId?: string,
 *   workerToken?: string,
 * }} Secrets
 */

/**
 * Read a folder's secrets, making those that are missing.
 *
 * @param {string} path
 * @returns {Secrets}
 */
export function readSecrets(path) {
  const kept = /** @type {Partial<Secrets>} */ (readJson(path) ?? {});
  const secrets = {
    ...kept,
    postgresPassword: kept.postgresPassword ?? randomBytes(24).toString('hex'),
    redisPassword: kept.redisPassword ?? randomBytes(24).toString('hex'),
    adminToken: kept.adminToken ?? randomBytes(24).toString('hex'),
    secretKey: kept.secretKey ?? randomBytes(32).toString('base64'),
  };
  saveSecrets(path, secrets);
  return secrets;
}

/**
 * @param {string} path
 * @param {Secrets} secrets
 */
export function saveSecrets(path, secrets) {
  writeJson(path, secrets, 0o600);
}
