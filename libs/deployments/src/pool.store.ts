import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { deploymentPools } from './versions';

/** Workers that serve one queue of work with one kind of engine: the shared one, or that of a deployment. */
export interface Pool {
  id: string;
  engine: string;
  catalogueDigest: string | null;
  lookAhead: number;
  queueLimit: number | null;
}

/** A pool as operators see it. */
export interface ListedPool extends Pick<Pool, 'id' | 'engine' | 'queueLimit'> {
  /** Null for a pool that all accounts share. */
  deploymentId: string | null;
  /** Kinds of nodes in its catalogue; null until a worker has published one. */
  nodeCount: number | null;
  attemptLimitSeconds: number | null;
  createdAt: Date;
}

/** The most that one list shows. */
const MAX_LISTED = 10_000;

/** Pools, as they are stored. What a process asks for at its start is plain SQL: it does without Prisma's engine. */
export class PoolStore {
  /** Create the pool of this id unless it is there already; a worker may change what engine serves it. */
  async ensure(tx: Statements, id: string, engine: string): Promise<void> {
    await tx.execute(Prisma.sql`
      INSERT INTO pools (id, engine) VALUES (${id}, ${engine})
      ON CONFLICT (id) DO UPDATE SET engine = excluded.engine, updated_at = now()`);
  }

  async find(tx: Statements, id: string): Promise<Pool | null> {
    const [pool] = await tx.rows<Pool>(Prisma.sql`
      SELECT id, engine, catalogue_digest, look_ahead, queue_limit FROM pools WHERE id = ${id}`);
    return pool ?? null;
  }

  /** Pools by their ids, but those of deleted deployments. */
  async list(tx: Statements): Promise<ListedPool[]> {
    return tx.rows(Prisma.sql`
      SELECT p.id, p.engine, p.queue_limit, p.attempt_limit_seconds, p.created_at, d.id AS deployment_id, c.node_count
      FROM pools p LEFT JOIN ${deploymentPools} dp ON dp.pool_id = p.id LEFT JOIN deployments d ON d.id = dp.deployment_id
      LEFT JOIN catalogues c ON c.digest = p.catalogue_digest
      WHERE d.deleted_at IS NULL ORDER BY p.id LIMIT ${MAX_LISTED}`);
  }

  async listIds(tx: Statements): Promise<string[]> {
    const pools = await tx.rows<{ id: string }>(Prisma.sql`SELECT id FROM pools ORDER BY id`);
    return pools.map(({ id }) => id);
  }
}
