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

/** The SQL of pools. */
export class PoolStore {
  /** Create the pool of this id unless it is there already; a worker may change what engine serves it. */
  async ensure(tx: Statements, id: string, engine: string): Promise<void> {
    await tx.execute(Prisma.sql`
      INSERT INTO pools AS p (id, engine) VALUES (${id}, ${engine})
      ON CONFLICT (id) DO UPDATE SET engine = excluded.engine, updated_at = now() WHERE p.engine <> excluded.engine`);
  }

  async find(tx: Statements, id: string): Promise<Pool | null> {
    const row = await tx.models.pool.findUnique({ where: { id } });
    if (row === null) return null;
    return {
      id: row.id,
      engine: row.engine,
      catalogueDigest: row.catalogueDigest,
      lookAhead: row.lookAhead,
      queueLimit: row.queueLimit,
    };
  }

  async listIds(tx: Statements): Promise<string[]> {
    const rows = await tx.models.pool.findMany({ select: { id: true }, orderBy: { id: 'asc' } });
    return rows.map((row) => row.id);
  }
}
