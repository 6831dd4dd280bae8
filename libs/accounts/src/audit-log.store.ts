import { type AuditEntry as AuditRow, type Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { Act, ActDetails, AuditEntry, AuditFilter, Operator } from './audit-log';

/** The SQL of the audit log: append and read. */
export class AuditLogStore {
  /** Written in the transaction of the act itself: neither exists without the other. */
  async append(tx: Statements, { actor, address }: Operator, act: Act): Promise<void> {
    const details: Prisma.InputJsonObject = act.details ?? {};
    await tx.models.auditEntry.create({ data: { ...act, actor, address, details, id: newId() } });
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
}

function entryOf({ details, ...row }: AuditRow): AuditEntry {
  return { ...row, details: details as ActDetails };
}
