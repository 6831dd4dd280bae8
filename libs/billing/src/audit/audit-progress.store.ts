import type { Statements } from '@millrace/database';
import { NOTHING, START, type AuditPosition } from './audit-span';

const NAME = 'ledger';

/** A round of the audit: where it is, and what it came to so far. */
export interface AuditProgress {
  position: AuditPosition;
  transactions: bigint;
  findings: number;
}

/** The checkpoint of the audit: another process, or this one after a restart, continues where the last step ended. */
export class AuditProgressStore {
  async find(tx: Statements): Promise<AuditProgress> {
    const row = await tx.models.ledgerAuditProgress.findUnique({ where: { name: NAME } });
    if (row === null) return { position: START, transactions: 0n, findings: 0 };
    const { accountId, reachedAt, availableMicros, heldMicros, consumedMicros, transactions, findings } = row;
    const sums = { availableMicros, heldMicros, consumedMicros };
    return { position: { accountId, part: reachedAt && { reachedAt, sums } }, transactions, findings };
  }

  async save(tx: Statements, { position, transactions, findings }: AuditProgress): Promise<void> {
    const { accountId, part } = position;
    const reached = { accountId, reachedAt: part?.reachedAt ?? null, ...(part?.sums ?? NOTHING) };
    const progress = { ...reached, transactions, findings, updatedAt: new Date() };
    const where = { name: NAME };
    await tx.models.ledgerAuditProgress.upsert({ where, create: { ...where, ...progress }, update: progress });
  }
}
