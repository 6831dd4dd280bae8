import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import type { ExportDestination } from './export-destination';

const columns = Prisma.sql`
  d.account_id, d.bucket, d.region, d.endpoint, d.access_key_id, d.prefix, d.created_at, d.updated_at, d.failing_since, d.disabled_at,
  d.disabled_reason`;

/** A place as it is stored. */
export interface StoredPlace {
  bucket: string | null;
  region: string | null;
  endpoint: string | null;
  accessKeyId: string | null;
  sealedSecret: Buffer | null;
  prefix: string;
}

/** A secret that was sealed with a former key of the ring. */
export interface FormerlySealed {
  accountId: string;
  sealedSecret: Buffer;
}

/** The SQL of where exports are written. An account has one place at most. */
export class DestinationStore {
  async find(statements: Statements, accountId: string): Promise<ExportDestination | null> {
    const [row] = await statements.rows<ExportDestination>(Prisma.sql`
      SELECT ${columns} FROM export_destinations d WHERE d.account_id = ${accountId}::uuid`);
    return row ?? null;
  }

  /**
   * Set it. Days that wait are written to the new place at once; what is on its way to the one before does not count.
   *
   * @param nextDay of a new destination: the first day that is written.
   */
  async put(
    statements: Statements,
    accountId: string,
    place: StoredPlace,
    nextDay: string,
  ): Promise<ExportDestination> {
    const { bucket, region, endpoint, accessKeyId, sealedSecret, prefix } = place;
    const [row] = await statements.rows<ExportDestination>(Prisma.sql`
      WITH waiting AS (
        UPDATE export_deliveries SET due_at = DEFAULT, tries = 0 WHERE account_id = ${accountId}::uuid AND state = 'pending')
      INSERT INTO export_destinations AS d (account_id, bucket, region, endpoint, access_key_id, sealed_secret, prefix, next_day)
      VALUES (${accountId}::uuid, ${bucket}, ${region}, ${endpoint}, ${accessKeyId}, ${sealedSecret}, ${prefix}, ${nextDay}::date)
      ON CONFLICT (account_id) DO UPDATE
      SET bucket = excluded.bucket, region = excluded.region, endpoint = excluded.endpoint, access_key_id = excluded.access_key_id,
          sealed_secret = excluded.sealed_secret, prefix = excluded.prefix, revision = d.revision + 1, updated_at = now(),
          failing_since = NULL, disabled_at = NULL, disabled_reason = NULL
      RETURNING ${columns}`);
    return row as ExportDestination;
  }

  /** Stop writing, or go on. Days that were not written meanwhile are, once it goes on. */
  async enable(statements: Statements, accountId: string, enabled: boolean): Promise<ExportDestination | null> {
    const [row] = await statements.rows<ExportDestination>(Prisma.sql`
      WITH waiting AS (
        UPDATE export_deliveries SET due_at = DEFAULT, tries = 0
        WHERE ${enabled} AND account_id = ${accountId}::uuid AND state = 'pending')
      UPDATE export_destinations d
      SET updated_at = now(),
          disabled_at = CASE WHEN NOT ${enabled} THEN coalesce(d.disabled_at, now()) END,
          disabled_reason = CASE WHEN NOT ${enabled} THEN coalesce(d.disabled_reason, 'by_owner') END,
          failing_since = CASE WHEN ${enabled} AND d.disabled_at IS NOT NULL THEN NULL ELSE d.failing_since END
      WHERE d.account_id = ${accountId}::uuid RETURNING ${columns}`);
    return row ?? null;
  }

  /** Forget it, its credentials with it. What waits is given up; the list of what was written stays. */
  async delete(statements: Statements, accountId: string): Promise<boolean> {
    const [row] = await statements.rows<{ gone: boolean }>(Prisma.sql`
      WITH gone AS (DELETE FROM export_destinations WHERE account_id = ${accountId}::uuid RETURNING account_id),
      dropped AS (
        UPDATE export_deliveries v SET state = 'failed', ended_at = now() FROM gone
        WHERE v.account_id = gone.account_id AND v.state = 'pending')
      SELECT true AS gone FROM gone`);
    return row !== undefined;
  }

  /** Secrets that begin otherwise than those that are sealed now, a page in the order of accounts. */
  async listFormerlySealed(
    statements: Statements,
    head: Buffer,
    after: string | null,
    limit: number,
  ): Promise<FormerlySealed[]> {
    return statements.rows(Prisma.sql`
      SELECT account_id, sealed_secret FROM export_destinations
      WHERE sealed_secret IS NOT NULL AND substring(sealed_secret FROM 1 FOR ${head.length}::int) <> ${head}
        AND (${after}::uuid IS NULL OR account_id > ${after}::uuid)
      ORDER BY account_id LIMIT ${limit}`);
  }

  /** @param before what it was: one that was set meanwhile stays. */
  async replaceSealed(
    statements: Statements,
    { accountId, sealedSecret: before }: FormerlySealed,
    sealed: Buffer,
  ): Promise<boolean> {
    const replaced = await statements.execute(Prisma.sql`
      UPDATE export_destinations SET sealed_secret = ${sealed}
      WHERE account_id = ${accountId}::uuid AND sealed_secret = ${before}`);
    return replaced > 0;
  }
}
