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

  async listIds(tx: Statements): Promise<string[]> {
    const pools = await tx.rows<{ id: string }>(Prisma.sql`SELECT id FROM pools ORDER BY id`);
    return pools.map(({ id }) => id);
  }
}
