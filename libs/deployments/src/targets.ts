import { randomUUID } from 'node:crypto';
import { Refusal, type NodeCatalogue } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { LoadingCache } from '@millrace/platform';
import type { CatalogueReader } from './catalogue-reader';
import type { Deployment } from './deployment';
import { noDeployment, type DeploymentsService } from './deployments.service';
import { deploymentDeleting } from './open-deployment.store';
import { pickVersions } from './versions';
import type { Pool, PoolStore } from './pool.store';

/** Where a submission will run, and on what terms. */
export interface Target {
  poolId: string;
  catalogue: NodeCatalogue;
  /** Names the version of the catalogue. */
  catalogueDigest: string;
  /** Jobs that may wait in the whole pool; null means the service's limit. */
  queueLimit: number | null;
  priceMicrosPerSecond: bigint;
  /** Why a submission would be refused there now; only where an estimate asked. */
  notReady?: Refusal;
}

/**
 * What a target is wanted for. A submission has workers started where none is ready. An estimate starts none, and is answered with a deployment
 * that is not ready, and why, once it is known what its workers can run. Who only reads what they can run is answered then as if it were ready.
 */
type Purpose = 'submission' | 'estimate' | 'reading';

/** How a submission to a deployment is placed. */
export interface TargetOptions {
  purpose?: Purpose;
  seed?: string | undefined;
}

/** How old the reading of a pool may be that a submission is placed by. */
const POOL_TTL_MS = 1_000;
const REFRESH_AFTER_MS = 700;
const CACHED_POOLS = 1_000;
const NO_WORKER_YET_SECONDS = 5;

/** Finds where jobs run. Answers are cached briefly: every submission asks, and they rarely change. */
export class Targets {
  private readonly cachedPools: LoadingCache<Pool | null>;

  constructor(
    database: Statements,
    pools: PoolStore,
    private readonly catalogues: CatalogueReader,
    private readonly deployments: DeploymentsService,
    private readonly defaultPriceMicrosPerSecond: bigint,
  ) {
    this.cachedPools = new LoadingCache({
      max: CACHED_POOLS,
      ttlMs: POOL_TTL_MS,
      refreshAfterMs: REFRESH_AFTER_MS,
      load: (id) => pools.find(database, id),
    });
  }

  /**
   * Where jobs of the shared surfaces run.
   *
   * @throws Refusal 429 `queue_full` while no worker of the pool has ever published what it can run: no graph can be validated
   * then, and waiting helps.
   */
  async shared(poolId: string): Promise<Target> {
    const pool = await this.cachedPools.get(poolId);
    if (pool === null || pool.catalogueDigest === null) {
      throw new Refusal('queue_full', 'No worker has published yet which nodes it can run; try again shortly.', {
        retryAfterSeconds: NO_WORKER_YET_SECONDS,
      });
    }
    return {
      poolId,
      catalogue: await this.catalogues.read(pool.catalogueDigest),
      catalogueDigest: pool.catalogueDigest,
      queueLimit: pool.queueLimit,
      priceMicrosPerSecond: this.defaultPriceMicrosPerSecond,
    };
  }

  /**
   * Where jobs of a deployment run. The caller has checked that the request may use it.
   *
   * @param options `purpose`: a submission by default; of several versions the same `seed` gets the same one while it can take jobs, and by
   * default any by its weight.
   * @throws Refusal 422 `deployment_stopped`; 429 `deployment_not_ready`; 404 `not_found`.
   */
  async deployment(id: string, { purpose = 'submission', seed }: TargetOptions = {}): Promise<Target> {
    const { deployment, notReady } = await this.versionFor(id, seed ?? randomUUID(), purpose);
    const catalogueDigest = deployment.catalogueDigest ?? '';
    if (deployment.idle && purpose === 'submission') await this.deployments.noteWanted(deployment);
    return {
      poolId: deployment.poolId,
      catalogue: await this.catalogues.read(catalogueDigest),
      catalogueDigest,
      queueLimit: deployment.queueLimit,
      priceMicrosPerSecond: deployment.priceMicrosPerSecond ?? this.defaultPriceMicrosPerSecond,
      ...(notReady === undefined ? {} : { notReady }),
    };
  }

  /** A worker of the version has published what it can run: without that none is ready. A refusal rests on a fresh reading, never on the cache. */
  private async versionFor(
    id: string,
    seed: string,
    purpose: Purpose,
  ): Promise<{ deployment: Deployment; notReady?: Refusal }> {
    const cached = await this.deployments.find(id);
    const [meant] = cached === null ? [] : versionsFor(cached, seed);
    if (meant?.state === 'ready' && meant.deletingAt === null) return { deployment: meant };
    const now = await this.deployments.findNow(id);
    if (now === null) throw noDeployment(id);
    const [deployment = now, ...others] = versionsFor(now, seed);
    if (deployment.deletingAt !== null) throw deploymentDeleting();
    if (deployment.state === 'ready') return { deployment };
    if (deployment.state === 'stopped') {
      throw new Refusal(
        'deployment_stopped',
        'This deployment is stopped; it takes no jobs until its operator starts it.',
      );
    }
    if (purpose === 'submission') await this.deployments.noteWanted(deployment);
    // A version that does not come up costs its share of the jobs nothing: the other one takes them.
    const other = others.find(({ state }) => state === 'ready');
    if (other !== undefined) return { deployment: other };
    const notReady = notReadyNow(deployment);
    const isKnown = deployment.state === 'starting' && deployment.catalogueDigest !== null;
    if (purpose === 'submission' || !isKnown) throw notReady;
    // A reading starts no workers, so that waiting would not help it.
    return purpose === 'reading' ? { deployment } : { deployment, notReady };
  }
}

function notReadyNow(deployment: Deployment): Refusal {
  return new Refusal(
    'deployment_not_ready',
    `This deployment is ${deployment.state}${because(deployment)}. Wait for the seconds in Retry-After, then send the same request again.`,
    { retryAfterSeconds: deployment.retryAfterSeconds },
  );
}

/** Versions for a submission, the one that it belongs to first. */
function versionsFor(deployment: Deployment, seed: string): Deployment[] {
  return pickVersions(deployment.id, seed, deployment.beside === null ? [deployment] : [deployment, deployment.beside]);
}

/** Why it is not ready, where the fleet has said so. */
function because({ stateReason }: Deployment): string {
  return stateReason === null ? '' : ` (${stateReason})`;
}
