import { freePort } from '../system/index.mjs';
import { callAdmin } from './account.mjs';
import { appSpec } from './apps.mjs';

/** What a worker outside has nothing of: it would be refused with it. */
const OF_THE_INSIDE = /^(DATABASE_URL|REDIS_URL|S3_.*|MILLRACE_(SECRET_KEY|BLOB_DIR|POOL|ADMIN_TOKEN))$/;

/** Of the gateway's protocol (libs/contracts). */
const PROTOCOL = '1';
const TIMEOUT_MS = 15_000;

/**
 * Start a gateway, and workers that join the shared pool by it alone, as machines outside do.
 *
 * @param {import('../services/fleet.mjs').Fleet} fleet
 * @param {import('./apps.mjs').Environment} common
 * @param {import('./account.mjs').Addresses & { kept: string | undefined }} addresses with the token of an earlier start
 * @param {number} count
 * @returns {Promise<string>} the token that they have
 */
export async function startRemoteWorkers(fleet, common, { kept, ...addresses }, count) {
  const port = await freePort();
  const gateway = { ...common, MILLRACE_GATEWAY_PORT: String(port) };
  await fleet.start([appSpec(fleet.folder, 'gateway', 'gateway', await freePort(), gateway)]);
  const gatewayUrl = `http://127.0.0.1:${port}`;
  const pool = common.MILLRACE_POOL || 'default';
  const token = kept && (await isAccepted(gatewayUrl, kept, pool)) ? kept : await makeWorkerToken(addresses, pool);
  const outside = remoteEnvironment(common, { gatewayUrl, token });
  const specs = [];
  for (let number = 1; number <= count; number += 1) {
    const name = `remote-worker-${number}`;
    const environment = {
      ...outside,
      MILLRACE_WORK_DIR: fleet.folder.at('work', name),
    };
    specs.push(appSpec(fleet.folder, 'worker', name, await freePort(), environment));
  }
  await fleet.start(specs);
  return token;
}

/**
 * @param {string} gatewayUrl
 * @param {string} token
 * @param {string} pool
 */
async function isAccepted(gatewayUrl, token, pool) {
  const response = await fetch(`${gatewayUrl}/gateway/v1/terms`, {
    headers: { authorization: `Bearer ${token}`, 'millrace-gateway-protocol': PROTOCOL },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const terms = /** @type {{ pool?: string }} */ (await response.json());
  return response.ok && terms.pool === pool;
}

/**
 * The settings of a worker that reaches its pool by a gateway alone.
 *
 * @param {import('./apps.mjs').Environment} common
 * @param {{ gatewayUrl: string, token: string }} gateway
 * @returns {import('./apps.mjs').Environment}
 */
export function remoteEnvironment(common, { gatewayUrl, token }) {
  const outside = Object.fromEntries(Object.entries(common).filter(([name]) => !OF_THE_INSIDE.test(name)));
  return { ...outside, MILLRACE_GATEWAY_URL: gatewayUrl, MILLRACE_GATEWAY_TOKEN: token };
}

/**
 * @param {Pick<import('./account.mjs').Addresses, 'opsUrl' | 'adminToken'>} addresses
 * @param {string} pool
 * @returns {Promise<string>} a token with which workers outside join it
 */
export async function makeWorkerToken(addresses, pool) {
  const { token } = await callAdmin(addresses, `pools/${pool}/tokens`, { name: 'npm start -- --remote-workers' });
  return String(token);
}
