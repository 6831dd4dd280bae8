import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { modelColumns, type Model } from '../library';

/** An import that this process has, until its lease ends. The number of the attempt is the fence of all it writes. */
export interface ImportClaim {
  model: Model & { sourceUrl: string };
  attempt: number;
  failures: number;
  /** Times that its upload has expired, and its bytes had to arrive again. */
  restarts: number;
  etag: string | null;
  /** Bytes that the account may store; null: the service's limit. */
  storageBytes: number | null;
}

type ClaimRow = Model & {
  sourceUrl: string;
  attempt: number;
  failures: number;
  restarts: number;
  etag: string | null;
  storage: number | null;
};

const isHeld = ({ model, attempt }: ImportClaim): Prisma.Sql =>
  Prisma.sql`id = ${model.id}::uuid AND state = 'importing' AND import_attempt = ${attempt}`;

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** Of an account, imports whose bytes arrive: fewer than it may have uploads open, so that some are left for its own. */
const BEGUN_PER_ACCOUNT = 10;

/** The statement of `ImportStore.claim`, whose plan a test checks: it visits each account that waits for an import once. */
export function claimSql(leaseSeconds: number, after: string | null): Prisma.Sql {
  return Prisma.sql`
    UPDATE models m
    SET import_attempt = m.import_attempt + 1, import_due_at = now() + make_interval(secs => ${leaseSeconds})
    FROM accounts a
    WHERE a.id = m.account_id AND m.id = (
      WITH RECURSIVE waiting (account_id) AS (
        (SELECT d.account_id FROM models d
         WHERE d.state = 'importing' AND d.account_id > ${after ?? BEFORE_ALL}::uuid ORDER BY d.account_id LIMIT 1)
        UNION ALL
        SELECT (SELECT d.account_id FROM models d
                WHERE d.state = 'importing' AND d.account_id > waiting.account_id ORDER BY d.account_id LIMIT 1)
        FROM waiting WHERE waiting.account_id IS NOT NULL
      )
      SELECT due.id FROM waiting CROSS JOIN LATERAL (
        SELECT count(*) AS count FROM models b
        WHERE b.account_id = waiting.account_id AND b.state = 'importing' AND b.upload_id IS NOT NULL) begun
      CROSS JOIN LATERAL (
        SELECT d.id FROM models d WHERE d.account_id = waiting.account_id AND d.state = 'importing' AND d.import_due_at <= now()
          AND (SELECT o.closed_at FROM accounts o WHERE o.id = waiting.account_id) IS NULL
          AND (d.upload_id IS NOT NULL OR begun.count < ${BEGUN_PER_ACCOUNT}::int)
        ORDER BY d.upload_id IS NULL, d.import_due_at, d.id LIMIT 1 FOR UPDATE SKIP LOCKED) due
      LIMIT 1)
    RETURNING ${modelColumns}, m.import_attempt AS attempt, m.import_failures AS failures, m.import_restarts AS restarts, m.import_etag AS etag,
      a.storage_bytes::float8 AS storage`;
}

/** The SQL of imports, of all accounts. What changes nothing says that the import has ended, or is another process's. */
export class ImportStore {
  /**
   * Take the import of an account that has been due the longest; one that has begun goes before those that have not. Accounts have their turns in the order of their ids: however many imports
   * one of them has, the next has its turn. Those of closed accounts are erased.
   *
   * @param after accounts up to this one had their turn; null: all of them are to come.
   */
  async claim(tx: Statements, leaseSeconds: number, after: string | null): Promise<ImportClaim | null> {
    const [row] = await tx.rows<ClaimRow>(claimSql(leaseSeconds, after));
    if (row === undefined) return null;
    const { attempt, failures, restarts, etag, storage, ...model } = row;
    return { model, attempt, failures, restarts, etag, storageBytes: storage };
  }

  /** Record where its bytes arrive; null: they have to arrive again. */
  async begin(
    tx: Statements,
    claim: ImportClaim,
    to: { uploadId: string; sizeBytes: number; etag: string | null } | null,
  ): Promise<boolean> {
    const { uploadId = null, sizeBytes = null, etag = null } = to ?? {};
    return (
      (await tx.execute(Prisma.sql`
      UPDATE models SET upload_id = ${uploadId}::uuid, size_bytes = ${sizeBytes}, import_etag = ${etag}, received_bytes = 0,
        import_restarts = import_restarts + ${to === null ? 1 : 0}
      WHERE ${isHeld(claim)}`)) > 0
    );
  }

  /** Keep the import for longer. @param receivedBytes what has arrived by now; null: as before. */
  async renew(
    tx: Statements,
    claim: ImportClaim,
    leaseSeconds: number,
    receivedBytes: number | null = null,
  ): Promise<boolean> {
    return (
      (await tx.execute(Prisma.sql`
      UPDATE models SET import_due_at = now() + make_interval(secs => ${leaseSeconds}),
        received_bytes = coalesce(${receivedBytes}, received_bytes),
        import_failures = CASE WHEN ${receivedBytes}::bigint IS NULL THEN import_failures ELSE 0 END
      WHERE ${isHeld(claim)}`)) > 0
    );
  }

  /** Give the import back. @param afterSeconds when it is due again; @param failed whether that counts as a failure. */
  async release(tx: Statements, claim: ImportClaim, afterSeconds: number, failed: boolean): Promise<boolean> {
    return (
      (await tx.execute(Prisma.sql`
      UPDATE models SET import_due_at = now() + make_interval(secs => ${afterSeconds}),
        import_failures = import_failures + ${failed ? 1 : 0}
      WHERE ${isHeld(claim)}`)) > 0
    );
  }

  async fail(tx: Statements, claim: ImportClaim, problem: string): Promise<boolean> {
    return (
      (await tx.execute(Prisma.sql`
      UPDATE models SET state = 'failed', failed_at = now(), problem = ${problem}, import_due_at = NULL WHERE ${isHeld(claim)}`)) >
      0
    );
  }
}
