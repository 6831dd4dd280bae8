import { createHash } from 'node:crypto';
import { NodeCatalogueSchema, type NodeCatalogue } from '@millrace/contracts';
import type { Statements } from '@millrace/database';

/** A node catalogue and the digest of its text, which names it. */
export interface StoredCatalogue {
  digest: string;
  catalogue: NodeCatalogue;
}

/** Node catalogues, as they are stored: once each, however many pools and workers publish the same. */
export class CatalogueStore {
  /** Make `catalogue` the one that the pool's submissions are validated against. @returns its digest. */
  async publish(tx: Statements, poolId: string, engine: string, catalogue: NodeCatalogue): Promise<string> {
    const document = JSON.stringify(catalogue);
    const digest = createHash('sha256').update(document).digest('hex');
    const nodeCount = Object.keys(catalogue).length;
    await tx.models.catalogue.createMany({ data: [{ digest, engine, nodeCount, document }], skipDuplicates: true });
    await tx.models.pool.updateMany({
      where: { id: poolId, OR: [{ catalogueDigest: null }, { catalogueDigest: { not: digest } }] },
      data: { catalogueDigest: digest },
    });
    return digest;
  }

  /** @returns null when there is none of this digest. */
  async find(tx: Statements, digest: string): Promise<StoredCatalogue | null> {
    const row = await tx.models.catalogue.findUnique({ where: { digest } });
    if (row === null) return null;
    return { digest, catalogue: NodeCatalogueSchema.parse(JSON.parse(row.document)) };
  }
}
