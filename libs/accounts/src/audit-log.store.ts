import type { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';

/** One administrative act: who did what to whom, and from where. */
export interface AdministrativeAct {
  actor: string;
  /** Subject and verb, e.g. `api_key.revoke`. */
  action: string;
  subjectType: string;
  subjectId: string;
  accountId: string | null;
  address: string | null;
  details?: Prisma.InputJsonObject;
}

/** The SQL of the audit log: append and read. */
export class AuditLogStore {
  /** Written in the transaction of the act itself: neither exists without the other. */
  async append(tx: Statements, act: AdministrativeAct): Promise<void> {
    await tx.models.auditEntry.create({ data: { ...act, id: newId() } });
  }
}
