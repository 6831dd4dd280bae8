import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { NOTHING, START, type AuditPosition } from './audit-span';

const NAME = 'ledger';

/** A round of the audit: where it is, and what it came to so far. */
export interface AuditProgress {
  position: AuditPosition;
  transactions: bigint;
  findings: number;
}

interface ProgressRow {
  accountId: string;
  reachedAt: Date | null;
  availableMicros: bigint;
  heldMicros: bigint;
  consumedMicros: bigint;
  transactions: bigint;
  findings: number;
}

/** The checkpoint of the audit: another process, or this one after a restart, continues where the last step ended. */
export class AuditProgressStore {
  async find(tx: Statements): Promise<AuditProgress> {
    const [row] = await tx.rows<ProgressRow>(Prisma.sql`
      SELECT account_id, reached_at, available_micros, held_micros, consumed_micros, transactions, findings
      FROM ledger_audit_progress WHERE name = ${NAME}`);
    if (row === undefined) return { position: START, transactions: 0n, findings: 0 };
    const { accountId, reachedAt, availableMicros, heldMicros, consumedMicros, transactions, findings } = row;
    const sums = { availableMicros, heldMicros, consumedMicros };
    return { position: { accountId, part: reachedAt && { reachedAt, sums } }, transactions, findings };
  }

  async save(tx: Statements, { position, transactions, findings }: AuditProgress): Promise<void> {
    const { accountId, part } = position;
    const { availableMicros, heldMicros, consumedMicros } = part?.sums ?? NOTHING;
    await tx.execute(Prisma.sql`
      INSERT INTO ledger_audit_progress (name, account_id, reached_at, available_micros, held_micros, consumed_micros,
        transactions, findings)
      VALUES (${NAME}, ${accountId}::uuid, ${part?.reachedAt ?? null}::timestamptz, ${availableMicros}, ${heldMicros},
        ${consumedMicros}, ${transactions}, ${findings})
      ON CONFLICT (name) DO UPDATE SET account_id = excluded.account_id, reached_at = excluded.reached_at,
        available_micros = excluded.available_micros, held_micros = excluded.held_micros,
        consumed_micros = excluded.consumed_micros, transactions = excluded.transactions, findings = excluded.findings,
        updated_at = now()`);
  }
}
