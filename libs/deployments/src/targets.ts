import { Refusal, type NodeCatalogue } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { CatalogueReader } from './catalogue-reader';
import type { Pool, PoolStore } from './pool.store';

/** Where a submission will run, and on what terms. */
export interface Target {
  poolId: string;
  catalogue: NodeCatalogue;
  /** Jobs that may wait in the whole pool; null means no bound of its own. */
  queueLimit: number | null;
  priceMicrosPerSecond: bigint;
}

/** A pool is looked up this often; a stopped deployment takes that long to refuse everywhere. */
const BELIEVED_MS = 1_000;
const NO_WORKER_YET_SECONDS = 5;

/** Finds where jobs run. Reads are remembered briefly: every submission asks, and the answer changes by the day. */
export class Targets {
  private readonly believed = new Map<string, { pool: Promise<Pool | null>; until: number }>();

  constructor(
    private readonly database: Statements,
    private readonly pools: PoolStore,
    private readonly catalogues: CatalogueReader,
    private readonly defaultPriceMicrosPerSecond: bigint,
  ) {}

  /**
   * Where jobs of the shared surfaces run.
   *
   * @throws Refusal 429 `queue_full` while no worker of the pool has ever said what it can run: nothing could be
   * validated, and the caller's right answer is to wait.
   */
  async shared(poolId: string): Promise<Target> {
    const pool = await this.pool(poolId);
    if (pool === null || pool.catalogueDigest === null) {
      throw new Refusal('queue_full', 'No worker has announced which nodes it can run yet; try again shortly.', {
        retryAfterSeconds: NO_WORKER_YET_SECONDS,
      });
    }
    return {
      poolId,
      catalogue: await this.catalogues.read(pool.catalogueDigest),
      queueLimit: pool.queueLimit,
      priceMicrosPerSecond: pool.deployment?.priceMicrosPerSecond ?? this.defaultPriceMicrosPerSecond,
    };
  }

  private pool(id: string): Promise<Pool | null> {
    const now = performance.now();
    const known = this.believed.get(id);
    if (known !== undefined && known.until > now) return known.pool;
    const pool = this.pools.find(this.database, id);
    this.believed.set(id, { pool, until: now + BELIEVED_MS });
    pool.catch(() => this.believed.delete(id));
    return pool;
  }
}
