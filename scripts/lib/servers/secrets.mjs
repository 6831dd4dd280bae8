import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { Failure } from '../command/index.mjs';
import { parseJson, writeJson } from '../system/index.mjs';

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

const NEEDED = /** @type {const} */ (['postgresPassword', 'redisPassword', 'adminToken', 'secretKey']);

/**
 * Read a folder's secrets, making those that are missing.
 *
 * @param {string} path
 * @returns {Secrets}
 * @throws {Failure} when the file is there and cannot be read: others in its place would shut out the data that it belongs to
 */
export function readSecrets(path) {
  const kept = keptSecrets(path);
  const secrets = {
    ...kept,
    postgresPassword: kept.postgresPassword ?? randomBytes(24).toString('hex'),
    redisPassword: kept.redisPassword ?? randomBytes(24).toString('hex'),
    adminToken: kept.adminToken ?? randomBytes(24).toString('hex'),
    secretKey: kept.secretKey ?? randomBytes(32).toString('base64'),
  };
  // Also where only its mode is not its owner's alone, as of a copy that was put back.
  if (NEEDED.some((name) => kept[name] === undefined) || isOpenToOthers(path)) saveSecrets(path, secrets);
  return secrets;
}

/** @param {string} path */
function isOpenToOthers(path) {
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0;
}

/**
 * @param {string} path
 * @returns {Partial<Secrets>}
 */
function keptSecrets(path) {
  let text;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code === 'ENOENT') return {};
    throw new Failure(`${path} cannot be read (${code}): give it to the user who runs this, or choose another --data.`);
  }
  const kept = valueOf(text);
  if (kept !== null && typeof kept === 'object' && !Array.isArray(kept)) return kept;
  throw new Failure(
    `${path} holds no secrets: put it back from a copy. Without one the data beside it is lost: move the folder away to begin with none.`,
  );
}

/** @param {string} text */
function valueOf(text) {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

/**
 * @param {string} path
 * @param {Secrets} secrets
 */
export function saveSecrets(path, secrets) {
  writeJson(path, secrets, 0o600, { durable: true });
}
