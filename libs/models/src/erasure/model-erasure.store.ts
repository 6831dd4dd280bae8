import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

/** The SQL that erases models of an account. */
export class ModelErasureStore {
  /**
   * Delete models that are the account's alone, at most `limit`. One that the operator lets every account use stays with its bytes.
   *
   * @returns for each the asset that it named, where it had one.
   */
  async delete(tx: Statements, accountId: string, limit: number): Promise<(string | null)[]> {
    const rows = await tx.rows<{ assetId: string | null }>(Prisma.sql`
      DELETE FROM models WHERE id IN (
        SELECT m.id FROM models m WHERE m.account_id = ${accountId}::uuid AND NOT m.shared LIMIT ${limit} FOR UPDATE)
      RETURNING asset_id`);
    return rows.map(({ assetId }) => assetId);
  }
}
