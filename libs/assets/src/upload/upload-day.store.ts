import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

/** The reason with which `add` refuses itself when the day's bytes would be too many. */
export const UPLOAD_LIMIT = 'upload_limit';
/** The same for a budget that the account shares with others. */
export const SHARED_UPLOAD_LIMIT = 'shared_upload_limit';

/** The SQL of bytes uploaded per account and day (UTC). */
export class UploadDayStore {
  async bytesToday(tx: Statements, accountId: string): Promise<number> {
    const [row] = await tx.rows<{ sizeBytes: number }>(Prisma.sql`
      SELECT size_bytes::float8 FROM upload_days
      WHERE account_id = ${accountId}::uuid AND day = (now() AT TIME ZONE 'UTC')::date`);
    return row?.sizeBytes ?? 0;
  }

  /** Count an upload. @throws RefusedError `reason` when the day's bytes exceed `limitBytes` by it; null: no limit. */
  async add(
    tx: Statements,
    accountId: string,
    sizeBytes: number,
    limitBytes: number | null,
    reason: string = UPLOAD_LIMIT,
  ): Promise<void> {
    await tx.execute(Prisma.sql`
      INSERT INTO upload_days AS d (account_id, day, size_bytes)
      VALUES (${accountId}::uuid, (now() AT TIME ZONE 'UTC')::date, ${sizeBytes})
      ON CONFLICT (account_id, day) DO UPDATE SET size_bytes = d.size_bytes + excluded.size_bytes
      RETURNING d.size_bytes <= coalesce(${limitBytes}, d.size_bytes) OR refuse(${reason})`);
  }

  /** Delete days older than `keepDays`. @returns how many rows. */
  async sweep(tx: Statements, keepDays: number, limit: number): Promise<number> {
    return tx.execute(Prisma.sql`
      DELETE FROM upload_days WHERE (account_id, day) IN (
        SELECT account_id, day FROM upload_days
        WHERE day < (now() AT TIME ZONE 'UTC')::date - ${keepDays}::int LIMIT ${limit})`);
  }
}
