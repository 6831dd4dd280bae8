import { Prisma, type AuditEntry as AuditRow } from '@prisma/client';
import { newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { Act, ActDetails, AuditEntry, AuditFilter, Operator } from './audit-log';

/** The SQL of the audit log: append, read, and delete what is old. */
export class AuditLogStore {
  /** Written in the transaction of the act itself: neither exists without the other. */
  async append(tx: Statements, { actor, address, reason = null }: Operator, act: Act): Promise<void> {
    const details: Prisma.InputJsonObject = act.details ?? {};
    await tx.models.auditEntry.create({ data: { ...act, actor, address, reason, details, id: newId() } });
  }

  /** Whether this actor has done this to this subject within `seconds`, for the same reason. */
  async hasRecent(tx: Statements, operator: Operator, act: Act, seconds: number): Promise<boolean> {
    const [row] = await tx.rows<{ found: boolean }>(Prisma.sql`
      SELECT EXISTS (
        SELECT FROM audit_log
        WHERE subject_id = ${act.subjectId} AND action = ${act.action} AND actor = ${operator.actor}
          AND reason IS NOT DISTINCT FROM ${operator.reason ?? null} AND at > now() - make_interval(secs => ${seconds})
      ) AS found`);
    return row?.found ?? false;
  }

  /** Entries newest first, `limit` at most, older than the entry `before` where one is given. */
  async list(tx: Statements, filter: AuditFilter, before: string | null, limit: number): Promise<AuditEntry[]> {
    const { accountId, actor, action, subjectId, from, to } = filter;
    const rows = await tx.models.auditEntry.findMany({
      where: { accountId, actor, action, subjectId, at: { gte: from, lt: to }, id: { lt: before ?? undefined } },
      orderBy: { id: 'desc' },
      take: limit,
    });
    return rows.map(entryOf);
  }

  /**
   * Delete entries older than `keptSeconds`, of the `batch` oldest. @returns how many.
   *
   * @throws the database's refusal (MR002) when an entry is younger than `AUDIT_LOG_FLOOR_SECONDS`.
   */
  async deleteOld(tx: Statements, keptSeconds: number, batch: number): Promise<number> {
    const [row] = await tx.rows<{ gone: number }>(Prisma.sql`
      SELECT sweep_audit_log(${keptSeconds}::bigint, ${batch}::int)::float8 AS gone`);
    return row?.gone ?? 0;
  }
}

function entryOf({ details, ...row }: AuditRow): AuditEntry {
  return { ...row, details: details as ActDetails };
}
