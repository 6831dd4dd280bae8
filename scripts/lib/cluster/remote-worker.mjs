import { randomBytes } from 'node:crypto';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { BUNDLES, makeFolder } from '../system/index.mjs';
import { until } from './client.mjs';
import { NAMESPACE, RELEASE } from './helm.mjs';

/** @typedef {import('../services/fleet.mjs').Fleet} Fleet */

const STOP = /** @type {const} */ ([
  { signal: 'SIGTERM', waitMs: 20_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
]);

/**
 * A way from loopback to the gateway of the release: TLS would end before it, and a worker sends its token over plain HTTP to the own
 * machine alone.
 *
 * @param {Fleet} fleet
 * @param {import('./client.mjs').Client} client
 * @returns {Promise<string>} its URL
 */
export async function openWayToGateway(fleet, client) {
  const { spec } = await client.get(`/api/v1/namespaces/${NAMESPACE}/services/${RELEASE}-gateway`);
  const server = createServer((near) => {
    const far = connect(80, spec?.clusterIP);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ]) {
      socket?.on('error', () => undefined).on('close', () => other?.destroy());
    }
    near.pipe(far).pipe(near);
  });
  await new Promise((resolve, reject) => {
    server.on('error', reject).listen(0, '127.0.0.1', () => resolve(undefined));
  });
  fleet.scope.defer(() => void server.close());
  return `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`;
}

/**
 * Start a worker that is on no node: of the release it has a URL and a token of its pool.
 *
 * @param {Fleet} fleet
 * @param {import('./service.mjs').InstalledService} service
 * @param {{ url: string, pool: string }} where
 * @returns {Promise<{ token: string, stop: () => Promise<void> }>}
 */
export async function joinFromOutside(fleet, service, { url, pool }) {
  const made = await service.admin('POST', `/pools/${pool}/tokens`, { name: 'outside' });
  const { token } = /** @type {{ token: string }} */ (made);
  const name = `outside-${randomBytes(4).toString('hex')}`;
  const folder = fleet.folder.at(name);
  makeFolder(folder);
  const env = {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    MILLRACE_GATEWAY_URL: url,
    MILLRACE_GATEWAY_TOKEN: token,
    MILLRACE_OPS_PORT: '0',
    MILLRACE_WORK_DIR: join(folder, 'work'),
  };
  await fleet.start([
    {
      role: 'outside',
      name,
      commandLine: [process.execPath, join(BUNDLES, 'worker.js')],
      options: { env },
      logFile: fleet.folder.log(name),
      isReady: async () => true,
      stopSteps: [...STOP],
    },
  ]);
  const started = fleet.services.find(({ spec }) => spec.name === name);
  await until(service.scope, 'The worker outside the cluster to join', async () => {
    const { ready_workers: ready } = await service.deployment(pool);
    return ready === 1;
  });
  return { token, stop: async () => started?.stop(fleet.scope.hurry) };
}
