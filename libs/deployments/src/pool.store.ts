import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

/** Workers that serve one queue of work with one kind of engine. */
export interface Pool {
  id: string;
  engine: string;
  catalogueDigest: string | null;
  lookAhead: number;
  queueLimit: number | null;
  deployment: PoolDeployment | null;
}

/** The deployment that a pool belongs to; the shared pool belongs to none. */
export interface PoolDeployment {
  id: string;
  accountId: string;
  demo: boolean;
  desiredState: 'running' | 'stopped';
  priceMicrosPerSecond: bigint | null;
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
    const row = await tx.models.pool.findUnique({ where: { id }, include: { deployment: true } });
    if (row === null) return null;
    const { deployment } = row;
    return {
      id: row.id,
      engine: row.engine,
      catalogueDigest: row.catalogueDigest,
      lookAhead: row.lookAhead,
      queueLimit: row.queueLimit,
      deployment: deployment && {
        id: deployment.id,
        accountId: deployment.accountId,
        demo: deployment.demo,
        desiredState: deployment.desiredState as PoolDeployment['desiredState'],
        priceMicrosPerSecond: deployment.priceMicrosPerSecond,
      },
    };
  }

  async listIds(tx: Statements): Promise<string[]> {
    const rows = await tx.models.pool.findMany({ select: { id: true }, orderBy: { id: 'asc' } });
    return rows.map((row) => row.id);
  }
}
