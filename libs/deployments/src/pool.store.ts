import type { Statements } from '@millrace/database';

/** Workers that serve one queue of work with one kind of engine: the shared one, or that of a deployment. */
export interface Pool {
  id: string;
  engine: string;
  catalogueDigest: string | null;
  lookAhead: number;
  queueLimit: number | null;
}

const POOL = { id: true, engine: true, catalogueDigest: true, lookAhead: true, queueLimit: true } as const;

/** Pools, as they are stored. */
export class PoolStore {
  /** Create the pool of this id unless it is there already; a worker may change what engine serves it. */
  async ensure(tx: Statements, id: string, engine: string): Promise<void> {
    await tx.models.pool.upsert({ where: { id }, create: { id, engine }, update: { engine } });
  }

  async find(tx: Statements, id: string): Promise<Pool | null> {
    return tx.models.pool.findUnique({ where: { id }, select: POOL });
  }

  async listIds(tx: Statements): Promise<string[]> {
    const pools = await tx.models.pool.findMany({ select: { id: true }, orderBy: { id: 'asc' } });
    return pools.map(({ id }) => id);
  }
}
