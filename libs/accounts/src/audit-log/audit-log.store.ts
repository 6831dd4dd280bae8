import { Prisma } from '@prisma/client';
import { lowestIdAt, newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { Act, Operator } from './audit-log';

/** Ids have the time of the process that wrote them; the entry that it is looked for in may have another one's. */
const CLOCKS_DIFFER_MS = 600_000;

/** The SQL of the audit log: append, and delete what is old. */
export class AuditLogStore {
  /** Written in the transaction of the act itself: neither exists without the other. */
  async append(tx: Statements, { actor, address, reason = null }: Operator, act: Act): Promise<void> {
    const details: Prisma.InputJsonObject = act.details ?? {};
    const data = { ...act, actor, address, reason, details, id: newId() };
    await tx.models.auditEntry.create({ data, select: { id: true } });
  }

  /**
   * Write that a credential was refused, unless what it names was erased: the account is closed, or the key, by whose hash it was known, has
   * another one. Both rows are held until the entry is there, so that an erasure that begins meanwhile finds it.
   *
   * @param keyHash of the key that was presented; null where it was no key.
   */
  async appendRefusal(
    tx: Statements,
    { actor, address }: Operator,
    { action, subjectType, subjectId, accountId, details = {} }: Act,
    keyHash: Buffer | null,
  ): Promise<void> {
    await tx.execute(Prisma.sql`
      WITH account AS (
        SELECT a.id FROM accounts a WHERE a.id = ${accountId}::uuid AND a.closed_at IS NULL FOR SHARE
      ), api_key AS (
        SELECT k.id FROM api_keys k WHERE k.key_hash = ${keyHash}::bytea AND k.account_id IN (SELECT id FROM account) FOR SHARE
      )
      INSERT INTO audit_log (id, actor, address, action, subject_type, subject_id, account_id, details)
      SELECT ${newId()}::uuid, ${actor}, ${address}, ${action}, ${subjectType}, ${subjectId}, ${accountId}::uuid, ${JSON.stringify(details)}::jsonb
      WHERE (${accountId}::uuid IS NULL OR EXISTS (SELECT FROM account))
        AND (${keyHash}::bytea IS NULL OR EXISTS (SELECT FROM api_key))`);
  }

  /** Let nobody else note what this actor does until the transaction ends. */
  async lockActor(tx: Statements, { actor }: Operator): Promise<void> {
    await tx.rows(Prisma.sql`
      SELECT pg_advisory_xact_lock(hashtextextended(${`acts of ${actor}`}, 0))::text AS locked`);
  }

  /**
   * Those of the subjects to which this actor has done the same within `seconds`, for the same reason. Only entries that are young by their
   * ids are read: a subject may have any number of them.
   */
  async listRecent(tx: Statements, operator: Operator, acts: readonly Act[], seconds: number): Promise<string[]> {
    const [{ action } = { action: '' }] = acts;
    const rows = await tx.rows<{ subjectId: string }>(Prisma.sql`
      SELECT DISTINCT subject_id FROM audit_log
      WHERE subject_id = ANY (${acts.map(({ subjectId }) => subjectId)}::text[])
        AND id >= ${lowestIdAt(Date.now() - seconds * 1_000 - CLOCKS_DIFFER_MS)}::uuid
        AND action = ${action} AND actor = ${operator.actor}
        AND reason IS NOT DISTINCT FROM ${operator.reason ?? null} AND at > now() - make_interval(secs => ${seconds})`);
    return rows.map(({ subjectId }) => subjectId);
  }

  /**
   * Delete sealed segments of which all entries are older than `keptSeconds`, the oldest first, until `batch` entries are gone or none is
   * left; the newest stays. @returns how many entries.
   *
   * @throws the database's refusal (MR002) when an entry is younger than `AUDIT_LOG_FLOOR_SECONDS`.
   */
  async deleteOld(tx: Statements, keptSeconds: number, batch: number): Promise<number> {
    const [row] = await tx.rows<{ gone: number }>(Prisma.sql`
      SELECT sweep_audit_log(${keptSeconds}::bigint, ${batch}::int)::float8 AS gone`);
    return row?.gone ?? 0;
  }
}
