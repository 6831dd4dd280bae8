import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import type { BlobRef } from './blob';
import { isThis } from './blob-record.store';

/** The SQL of what is known to be wrong with bytes. Each statement is about one life of a blob: marks end with it. */
export class BlobDamageStore {
  /** Note that live bytes were not found. An orphan may be there before its bytes are. */
  async markLost(statements: Statements, blob: BlobRef): Promise<void> {
    await statements.execute(Prisma.sql`
      UPDATE blobs b SET lost_at = now() WHERE ${isThis(blob)} AND b.orphaned_at IS NULL AND b.lost_at IS NULL`);
  }

  /** Note that bytes have another hash. @returns since when it is noted; null when this life of the blob is over. */
  async markRotten(statements: Statements, blob: BlobRef): Promise<Date | null> {
    const [row] = await statements.rows<{ damagedAt: Date }>(Prisma.sql`
      UPDATE blobs b SET damaged_at = coalesce(b.damaged_at, now()) WHERE ${isThis(blob)} RETURNING b.damaged_at`);
    return row?.damagedAt ?? null;
  }

  /** Take back what was noted at a time: a note that was made later stays. */
  async clearRotten(statements: Statements, blob: BlobRef, damagedAt: Date): Promise<void> {
    await statements.execute(Prisma.sql`
      UPDATE blobs b SET damaged_at = NULL WHERE ${isThis(blob)} AND b.damaged_at = ${damagedAt.toISOString()}::timestamptz`);
  }

  /** The bytes are there again; whether they are sound is not known by that. */
  async clearLost(statements: Statements, blob: BlobRef): Promise<void> {
    await statements.execute(Prisma.sql`
      UPDATE blobs b SET lost_at = NULL WHERE ${isThis(blob)} AND b.lost_at IS NOT NULL`);
  }

  /** Bytes were placed again. */
  async clear(statements: Statements, blob: BlobRef): Promise<void> {
    await statements.execute(Prisma.sql`UPDATE blobs b SET lost_at = NULL, damaged_at = NULL WHERE ${isThis(blob)}`);
  }
}
