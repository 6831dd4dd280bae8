import { createHash } from 'node:crypto';
import { Prisma } from '@prisma/client';
import type { NodeCatalogue } from '@millrace/contracts';
import type { Statements } from '@millrace/database';

/** What is published is written, or made young, a moment before the pool points at it. */
const UNUSED = Prisma.sql`c.created_at < now() - interval '1 minute'
  AND NOT EXISTS (SELECT 1 FROM pools p WHERE p.catalogue_digest = c.digest)`;

/** Node catalogues, as they are stored: once each, however many pools and workers publish the same. */
export class CatalogueStore {
  /**
   * Make `catalogue` the one that the pool's submissions are validated against. Where it is that already, nothing is written.
   *
   * @returns its digest.
   */
  async publish(tx: Statements, poolId: string, engine: string, catalogue: NodeCatalogue): Promise<string> {
    const document = JSON.stringify(catalogue);
    const digest = createHash('sha256').update(document).digest('hex');
    if (await this.isOfPool(tx, poolId, digest)) return digest;
    // One that is published again is young again: the sweep does not take it before the pool points at it.
    const known = await tx.execute(Prisma.sql`UPDATE catalogues SET created_at = now() WHERE digest = ${digest}`);
    if (known === 0) {
      const nodeCount = Object.keys(catalogue).length;
      await tx.execute(Prisma.sql`
        INSERT INTO catalogues (digest, engine, node_count, document) VALUES (${digest}, ${engine}, ${nodeCount}, ${document})
        ON CONFLICT (digest) DO UPDATE SET created_at = now()`);
    }
    await tx.execute(Prisma.sql`
      UPDATE pools SET catalogue_digest = ${digest}, updated_at = now()
      WHERE id = ${poolId} AND catalogue_digest IS DISTINCT FROM ${digest}`);
    return digest;
  }

  private async isOfPool(tx: Statements, poolId: string, digest: string): Promise<boolean> {
    const rows = await tx.rows(Prisma.sql`SELECT 1 FROM pools WHERE id = ${poolId} AND catalogue_digest = ${digest}`);
    return rows.length > 0;
  }

  /** Catalogues that no pool points at and that are not being published, those published first before the others. */
  async listUnused(tx: Statements, limit: number): Promise<string[]> {
    const rows = await tx.rows<{ digest: string }>(Prisma.sql`
      SELECT c.digest FROM catalogues c WHERE ${UNUSED} ORDER BY c.created_at LIMIT ${limit}`);
    return rows.map(({ digest }) => digest);
  }

  /** Delete those of the catalogues that are still unused. @returns how many. */
  async deleteUnused(tx: Statements, digests: string[]): Promise<number> {
    return tx.execute(Prisma.sql`DELETE FROM catalogues c WHERE c.digest = ANY(${digests}::text[]) AND ${UNUSED}`);
  }

  /** Bytes of the text of a catalogue, and the kind of the engine that published it first; null when there is none of this digest. */
  async head(tx: Statements, digest: string): Promise<{ bytes: number; engine: string } | null> {
    const [row] = await tx.rows<{ bytes: number; engine: string }>(Prisma.sql`
      SELECT octet_length(document) AS bytes, engine FROM catalogues WHERE digest = ${digest}`);
    return row ?? null;
  }

  /** The text of a catalogue, JSON; null when there is none of this digest. */
  async text(tx: Statements, digest: string): Promise<string | null> {
    const row = await tx.models.catalogue.findUnique({ where: { digest }, select: { document: true } });
    return row?.document ?? null;
  }
}
