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

interface PoolRow {
  id: string;
  engine: string;
  catalogue_digest: string | null;
  look_ahead: number;
  queue_limit: number | null;
}

/** The SQL of pools. */
export class PoolStore {
  /** Create the pool of this id unless it is there already; a worker may change what engine serves it. */
  async ensure(tx: Statements, id: string, engine: string): Promise<void> {
    await tx.execute(Prisma.sql`
      INSERT INTO pools AS p (id, engine) VALUES (${id}, ${engine})
      ON CONFLICT (id) DO UPDATE SET engine = excluded.engine, updated_at = now() WHERE p.engine <> excluded.engine`);
  }

  /** Hot: asked several times a second by every process that submits or dispatches. */
  async find(tx: Statements, id: string): Promise<Pool | null> {
    const [row] = await tx.query<PoolRow>(Prisma.sql`
      SELECT id, engine, catalogue_digest, look_ahead, queue_limit FROM pools WHERE id = ${id}`);
    if (row === undefined) return null;
    return {
      id: row.id,
      engine: row.engine,
      catalogueDigest: row.catalogue_digest,
      lookAhead: row.look_ahead,
      queueLimit: row.queue_limit,
    };
  }

  async listIds(tx: Statements): Promise<string[]> {
    const rows = await tx.models.pool.findMany({ select: { id: true }, orderBy: { id: 'asc' } });
    return rows.map((row) => row.id);
  }
}
