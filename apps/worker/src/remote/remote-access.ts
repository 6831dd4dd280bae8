import { GATEWAY_PROTOCOL, GatewayTermsSchema, Refusal, type GatewayTerms } from '@millrace/contracts';
import { BOOT_TIMEOUT_MS, retryWhileStarting } from '@millrace/database';
import { BootError, VERSION, type Logger } from '@millrace/platform';
import type { PoolAccess } from '../pool-access';
import { EventPause } from './event-pause';
import { GatewayClient, TokenRefused } from './gateway.client';
import { RemoteAttempt } from './remote-attempt';
import { RemoteGraphs } from './remote-graph';
import { RemoteLane } from './remote-lane';
import { RemoteModels } from './remote-models';
import { RemotePool } from './remote-pool';
import { StoreLinks } from './store-links';

/** Set where a worker reaches its pool by itself: it and a gateway contradict each other. */
const OF_OWN_ACCESS = [
  'DATABASE_URL',
  'REDIS_URL',
  'MILLRACE_SECRET_KEY',
  'MILLRACE_BLOB_DIR',
  'S3_BUCKET',
  'S3_SECRET_ACCESS_KEY',
];

/**
 * Whether the environment names a gateway.
 *
 * @throws BootError when it names one half of it, or a database, a Redis or a store beside it.
 */
export function isRemote(env: NodeJS.ProcessEnv): boolean {
  const given = (name: string): boolean => (env[name] ?? '') !== '';
  if (!given('MILLRACE_GATEWAY_URL')) {
    if (!given('MILLRACE_GATEWAY_TOKEN')) return false;
    throw new BootError('MILLRACE_GATEWAY_TOKEN is set without MILLRACE_GATEWAY_URL: set both, or neither.');
  }
  const other = OF_OWN_ACCESS.find(given);
  if (other === undefined) return true;
  throw new BootError(
    `MILLRACE_GATEWAY_URL and ${other} are both set: a worker reaches its pool through a gateway or by itself. Unset one of them.`,
  );
}

interface RemoteParts {
  gatewayUrl: string;
  gatewayToken: string;
  workerId: string;
  logger: Logger;
}

/**
 * The access of a worker that reaches nothing but a gateway. Waits for a gateway that is starting.
 *
 * @throws BootError when the gateway refuses the worker, speaks another protocol, or stays away.
 */
export async function openRemoteAccess({
  gatewayUrl,
  gatewayToken,
  workerId,
  logger,
}: RemoteParts): Promise<PoolAccess> {
  const client = new GatewayClient(gatewayUrl, gatewayToken);
  const terms = await termsOf(client, gatewayUrl);
  if (terms.version !== VERSION) {
    logger.warn({ own: VERSION, gateway: terms.version }, 'the gateway has another version, of the same protocol');
  }
  const links = new StoreLinks(logger);
  const access = { client, partBytes: terms.partBytes, eventPause: new EventPause(), links, logger };
  const pool = new RemotePool(client, workerId, new RemoteGraphs(access, terms.leaseSeconds, logger));
  const models = new RemoteModels(client, links);
  return {
    pool: terms.pool,
    terms,
    registry: pool,
    claims: pool,
    recordsOf: (claimed) => {
      models.began(claimed);
      const { parts } = new RemoteAttempt(access, claimed);
      return { ...parts, ended: () => models.ended(claimed) };
    },
    // One of an earlier version serves the inputs of attempts, not the library.
    modelSource: terms.servesModels === true ? models : null,
    openLane: (listener) => new RemoteLane({ client, workerId, logger, ...listener }),
    assertInReach: async () => {
      await askTerms(client);
    },
  };
}

async function termsOf(client: GatewayClient, url: string): Promise<GatewayTerms> {
  let terms: GatewayTerms;
  try {
    terms = await retryWhileStarting(BOOT_TIMEOUT_MS, () => askTerms(client).catch(atOnce));
  } catch (error) {
    const reason = error instanceof Refusal ? 'refuses this worker' : 'cannot be used';
    throw new BootError(`The gateway at ${url} ${reason}: ${(error as Error).message}`);
  }
  if (terms.protocol === GATEWAY_PROTOCOL) return terms;
  throw new BootError(
    `The gateway at ${url} has version ${terms.version} and speaks protocol ${terms.protocol}; this worker has version ` +
      `${VERSION} and speaks ${GATEWAY_PROTOCOL}: run the version of the gateway.`,
  );
}

/** A gateway that is starting refuses no token. @throws what is tried again, and a refusal as one that is not. */
function atOnce(error: unknown): never {
  throw error instanceof TokenRefused ? new Refusal('unauthorized', error.message) : error;
}

function askTerms(client: GatewayClient): Promise<GatewayTerms> {
  return client.ask(GatewayTermsSchema, { method: 'GET', path: 'terms' });
}
