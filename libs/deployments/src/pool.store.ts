import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

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
  /** The deployment's name and account; null where there is no deployment. */
  deploymentName: string | null;
  accountId: string | null;
  accountName: string | null;
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

  /**
   * The pools that all accounts share, and after these those of deployments that are not deleted, each by their ids: of versions that take jobs, and of
   * those that have ended and still have some. Nothing is read of other versions that have ended. The first condition is that of an index.
   *
   * @param working ids of the pools with jobs that wait or run.
   */
  async list(tx: Statements, working: readonly string[]): Promise<ListedPool[]> {
    return tx.rows(Prisma.sql`
      SELECT p.id, p.engine, p.queue_limit, p.attempt_limit_seconds, p.created_at, listed.deployment_id, c.node_count,
        d.name AS deployment_name, d.account_id, a.name AS account_name
      FROM (
        SELECT id AS pool_id, NULL::uuid AS deployment_id FROM pools WHERE id NOT LIKE '________-____-____-____-____________%'
        UNION ALL SELECT pool_id, id FROM deployments WHERE deleted_at IS NULL
        UNION ALL SELECT v.pool_id, d.id FROM deployments d JOIN deployment_versions v ON v.deployment_id = d.id AND v.ended_at IS NULL
          WHERE d.deleted_at IS NULL
        UNION ALL SELECT v.pool_id, d.id FROM deployment_versions v JOIN deployments d ON d.id = v.deployment_id
          WHERE v.pool_id = ANY(${[...working]}::text[]) AND v.ended_at IS NOT NULL AND d.deleted_at IS NULL
      ) listed JOIN pools p ON p.id = listed.pool_id LEFT JOIN catalogues c ON c.digest = p.catalogue_digest
        LEFT JOIN deployments d ON d.id = listed.deployment_id LEFT JOIN accounts a ON a.id = d.account_id
      ORDER BY listed.deployment_id IS NOT NULL, p.id LIMIT ${MAX_LISTED}`);
  }

  async listIds(tx: Statements): Promise<string[]> {
    const pools = await tx.rows<{ id: string }>(Prisma.sql`SELECT id FROM pools ORDER BY id`);
    return pools.map(({ id }) => id);
  }
}
