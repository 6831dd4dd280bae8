import { basename, join } from 'node:path';
import process from 'node:process';
import { migrate } from '../prisma/index.mjs';
import { readSecrets, startServers, startTestS3 } from '../servers/index.mjs';
import { DIST, freePort, makeFolder } from '../system/index.mjs';
import { appSpec, baseEnvironment } from './apps.mjs';
import { DeploymentWorkers, fleetSpec } from './deployments.mjs';
import { makeWorkerToken, remoteEnvironment } from './remote-workers.mjs';

/** @typedef {typeof import('../../../libs/testing/src')} Testing */
/** @typedef {import('../../../libs/testing/src').Member} Member */
/** @typedef {import('../../../libs/testing/src').FaultyStack} FaultyStack */
/** @typedef {import('../services/service.mjs').ServiceSpec} ServiceSpec */

const LEASE_SECONDS = 3;
const BUCKET = 'faults';
const WORKERS = 2;
/** Room for two of the models, which have more than one piece. */
const MODEL_CACHE_BYTES = 45_000_000;
/** So that a run of faults is about recovery and not about running out of tries. */
const SETTINGS = {
  MILLRACE_LEASE_SECONDS: String(LEASE_SECONDS),
  MILLRACE_MAX_ATTEMPTS: '20',
  MILLRACE_JOB_EXECUTION_DEADLINE_SECONDS: '120',
  MILLRACE_QUEUE_LIMIT_PER_ACCOUNT: '200',
  MILLRACE_DATABASE_TIMEOUT_MS: '4000',
  // Few, so that work which waits for a lock uses them up.
  MILLRACE_DATABASE_POOL_SIZE: '4',
  MILLRACE_DRAIN_SECONDS: '1',
  MILLRACE_STOP_SECONDS: '5',
  MILLRACE_ERASURE_SETTLE_SECONDS: '1',
  // The receiver of webhooks is on loopback.
  MILLRACE_WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
  MILLRACE_MAIL_FROM: 'Millrace <no-reply@mail.test>',
  MILLRACE_INVITATIONS_PER_DAY: '1000',
  // A hold is what some twenty jobs cost: caps are used up by what was charged, too, and holds of long jobs are extended.
  MILLRACE_PRICE_MICROS_PER_SECOND: '10000',
  MILLRACE_HOLD_MICROS: '60000',
  MILLRACE_HOLD_EXTENSION_SECONDS: '3',
};

/** A fleet whose processes are started again however often they end: nothing gives up on them. */
class LastingFleet {
  /** @type {Member[]} */
  members = [];

  /**
   * @param {import('../command/scope.mjs').Scope} scope
   * @param {import('../services/data-folder.mjs').DataFolder} folder
   * @param {Testing} testing
   */
  constructor(scope, folder, testing) {
    this.scope = scope;
    this.folder = folder;
    this.testing = testing;
  }

  /** @param {ServiceSpec[]} specs */
  async start(specs) {
    const group = specs.map((spec) => new this.testing.Member(spec.role === 'postgres' ? unsynced(spec) : spec));
    this.members.push(...group);
    this.scope.defer(async () => void (await Promise.all(group.map((member) => member.stop()))));
    await Promise.all(group.map((member) => member.start()));
  }

  /** @param {string} role */
  of(role) {
    return this.members.filter((member) => member.spec.role === role);
  }

  /** @param {string} role */
  one(role) {
    const [member] = this.of(role);
    if (!member) throw new Error(`there is no ${role}`);
    return member;
  }
}

/**
 * Its crashes are those of a process, not of a machine: what it wrote is in the system's memory, and waiting for the disk would
 * only make its returns slow.
 *
 * @param {ServiceSpec} spec
 * @returns {ServiceSpec}
 */
function unsynced(spec) {
  return { ...spec, commandLine: [...spec.commandLine, '-c', 'fsync=off'] };
}

/**
 * Two API processes, one maintenance process, one fleet process, a gateway, two workers and one outside on servers of their own, which
 * they reach through proxies.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {import('../services/data-folder.mjs').DataFolder} folder
 * @param {Testing} testing
 * @returns {Promise<FaultyStack>}
 */
export async function startFaultyStack(scope, folder, testing) {
  const fleet = new LastingFleet(scope, folder, testing);
  const secrets = readSecrets(folder.at('secrets.json'));
  // Its own servers, never those that the environment names: they are about to be harmed.
  const lasting = /** @type {import('../services/fleet.mjs').Fleet} */ (/** @type {unknown} */ (fleet));
  const { databaseUrl, redisUrl } = await startServers(lasting, {}, { secrets });
  const s3 = await startTestS3(lasting, {});
  makeFolder(folder.at('s3', 'data', BUCKET));
  await migrate(scope, databaseUrl);
  const mailServer = await testing.SmtpSink.open();
  scope.defer(() => mailServer.close());
  const apiPorts = [await freePort(), await freePort()];
  const gatewayPort = await freePort();
  const proxies = await startProxies(scope, testing, {
    postgres: databaseUrl,
    redis: redisUrl,
    s3: s3.endpoint,
    models: s3.endpoint,
    link: `http://127.0.0.1:${gatewayPort}`,
    mail: mailServer.url,
  });
  const direct = {
    S3_BUCKET: BUCKET,
    S3_ENDPOINT: s3.endpoint,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
  };
  const servers = { databaseUrl: through(databaseUrl, proxies.postgres), redisUrl: through(redisUrl, proxies.redis) };
  const env = {
    PATH: process.env.PATH,
    ...SETTINGS,
    ...direct,
    S3_ENDPOINT: through(s3.endpoint, proxies.s3),
    MILLRACE_MAIL_SMTP_URL: through(mailServer.url, proxies.mail),
    MILLRACE_PUBLIC_URL: `http://127.0.0.1:${apiPorts[0]}`,
  };
  const common = baseEnvironment({ env, folder, secrets, servers, surface: 'cloud' });
  const modelCache = { dir: folder.at('models'), budgetBytes: MODEL_CACHE_BYTES };
  const modelStore = through(s3.endpoint, proxies.models);
  const ofModels = { S3_ENDPOINT: modelStore, ...modelSettings(folder, modelCache) };
  const opsPort = await startApps(fleet, common, apiPorts, ofModels);
  const adminAddress = { opsUrl: `http://127.0.0.1:${opsPort}`, adminToken: secrets.adminToken };
  const apps = ['api', 'maintenance', 'worker'].flatMap((role) => fleet.of(role));
  const gateway = { ...common, S3_ENDPOINT: modelStore, MILLRACE_GATEWAY_PORT: String(gatewayPort) };
  await fleet.start([appSpec(folder, 'gateway', 'gateway', await freePort(), gateway)]);
  const link = { gatewayUrl: `http://127.0.0.1:${proxies.link.port}`, ...adminAddress };
  const remote = await joinWorker(fleet, common, { ...link, role: 'remote worker', pool: 'default' });
  apps.push(fleet.one('gateway'), remote);
  return {
    modelCache,
    joinModelWorker: async (pool) => {
      const cache = { dir: folder.at('models-outside'), budgetBytes: MODEL_CACHE_BYTES };
      const settings = { ...common, ...modelSettings(folder, cache), MILLRACE_ENGINE: 'comfyui' };
      const member = await joinWorker(fleet, settings, { ...link, role: 'remote model worker', pool });
      apps.push(member);
      return { member, cache };
    },
    victims: {
      apps,
      fleet: fleet.one('fleet'),
      postgres: fleet.one('postgres'),
      redis: fleet.one('redis'),
      redisUrl,
      mailServer,
      proxies,
    },
    origins: apiPorts.map((port) => `http://127.0.0.1:${port}`),
    ...adminAddress,
    databaseUrl,
    env: { ...common, ...direct },
    folder: folder.path,
    leaseMs: LEASE_SECONDS * 1_000,
  };
}

/**
 * What workers with ComfyUI have, beside the settings of all: a simulated one, and a cache of models.
 *
 * @param {import('../services/data-folder.mjs').DataFolder} folder
 * @param {import('../../../libs/testing/src').ModelCache} cache
 */
function modelSettings(folder, { dir, budgetBytes }) {
  const comfyui = folder.at('comfyui', basename(dir));
  makeFolder(dir);
  makeFolder(comfyui);
  const program = join(DIST, 'libs', 'testing', 'src', 'comfyui-simulator', 'main.js');
  return {
    MILLRACE_COMFYUI_COMMAND: `${process.execPath} ${program}`,
    MILLRACE_COMFYUI_DIR: comfyui,
    MILLRACE_MODEL_CACHE_DIR: dir,
    MILLRACE_MODEL_CACHE_BYTES: String(budgetBytes),
    MILLRACE_MODEL_WAIT_SECONDS: '2',
  };
}

/**
 * A worker that reaches nothing but the gateway, by a link that can be harmed.
 *
 * @param {LastingFleet} fleet
 * @param {Record<string, string | undefined>} common
 * @param {Pick<import('./account.mjs').Addresses, 'opsUrl' | 'adminToken'> & { gatewayUrl: string, role: string, pool: string }} parts
 * @returns {Promise<Member>}
 */
async function joinWorker(fleet, common, { gatewayUrl, role, pool, ...addresses }) {
  const { folder } = fleet;
  const token = await makeWorkerToken(addresses, pool);
  const name = role.replaceAll(' ', '-');
  const spec = appSpec(folder, 'worker', name, await freePort(), {
    ...remoteEnvironment(common, { gatewayUrl, token }),
    MILLRACE_WORK_DIR: folder.at('work', name),
  });
  await fleet.start([{ ...spec, role }]);
  return fleet.one(role);
}

/**
 * @param {LastingFleet} fleet
 * @param {Record<string, string | undefined>} common
 * @param {number[]} apiPorts
 * @param {Record<string, string>} ofModels what the workers of deployments have beside it
 */
async function startApps(fleet, common, apiPorts, ofModels) {
  const { folder } = fleet;
  const opsPort = await freePort();
  const specs = [
    appSpec(folder, 'maintenance', 'maintenance', await freePort(), common),
    await fleetSpec(folder, { ...common, ...ofModels }, new DeploymentWorkers()),
  ];
  for (const [index, port] of apiPorts.entries()) {
    const ops = index === 0 ? opsPort : await freePort();
    specs.push(appSpec(folder, 'api', `api-${index + 1}`, ops, { ...common, MILLRACE_PORT: String(port) }));
  }
  for (let number = 1; number <= WORKERS; number += 1) {
    const name = `worker-${number}`;
    const MILLRACE_WORK_DIR = folder.at('work', name);
    specs.push(appSpec(folder, 'worker', name, await freePort(), { ...common, MILLRACE_WORK_DIR }));
  }
  await fleet.start(specs);
  return opsPort;
}

/**
 * @template {string} N
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {Testing} testing
 * @param {Record<N, string>} urls
 */
async function startProxies(scope, testing, urls) {
  const proxies = /** @type {Record<N, import('../../../libs/testing/src').FaultProxy>} */ ({});
  for (const name of /** @type {N[]} */ (Object.keys(urls))) {
    const { hostname: host, port } = new URL(urls[name]);
    const proxy = await testing.FaultProxy.start({ host, port: Number(port) });
    scope.defer(() => proxy.close());
    proxies[name] = proxy;
  }
  return proxies;
}

/**
 * @param {string} url
 * @param {import('../../../libs/testing/src').FaultProxy} proxy
 */
function through(url, proxy) {
  const changed = new URL(url);
  changed.port = String(proxy.port);
  return changed.href.replace(/\/$/, '');
}
