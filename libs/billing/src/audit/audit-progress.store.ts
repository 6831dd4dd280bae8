import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { NOTHING, START, type AuditPosition, type DaySums } from './audit-span';

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
  daySums: StoredDay | null;
  transactions: bigint;
  findings: number;
}

/** The sums of a day inside a document, with the time up to which they are: a process of an earlier version leaves them when it goes on. */
interface StoredDay extends Record<Exclude<keyof DaySums, 'ends' | 'lines'>, string> {
  reachedAt: string;
  ends: string;
  lines: string[];
}

function storedDay({ ends, lines, ...amounts }: DaySums, reachedAt: Date): StoredDay {
  const { ledgerRows, ledgerMicros, usageRows, usageMicros } = amounts;
  const texts = { ledgerRows: String(ledgerRows), ledgerMicros: String(ledgerMicros) };
  const usage = { usageRows: String(usageRows), usageMicros: String(usageMicros) };
  return { reachedAt: reachedAt.toISOString(), ends: ends.toISOString(), lines: lines.map(String), ...texts, ...usage };
}

function dayOf(stored: StoredDay | null, reachedAt: Date): DaySums | null {
  if (stored === null || stored.reachedAt !== reachedAt.toISOString()) return null;
  const { ledgerRows, ledgerMicros, usageRows, usageMicros } = stored;
  return {
    ends: new Date(stored.ends),
    lines: stored.lines.map(BigInt),
    ...{ ledgerRows: BigInt(ledgerRows), ledgerMicros: BigInt(ledgerMicros) },
    ...{ usageRows: BigInt(usageRows), usageMicros: BigInt(usageMicros) },
  };
}

/** The checkpoint of the audit: another process, or this one after a restart, continues where the last step ended. */
export class AuditProgressStore {
  async find(tx: Statements): Promise<AuditProgress> {
    const [row] = await tx.rows<ProgressRow>(Prisma.sql`
      SELECT account_id, reached_at, available_micros, held_micros, consumed_micros, day_sums, transactions, findings
      FROM ledger_audit_progress WHERE name = ${NAME}`);
    if (row === undefined) return { position: START, transactions: 0n, findings: 0 };
    const { accountId, reachedAt, availableMicros, heldMicros, consumedMicros, daySums, transactions, findings } = row;
    const sums = { availableMicros, heldMicros, consumedMicros };
    const part = reachedAt && { reachedAt, sums, day: dayOf(daySums, reachedAt) };
    return { position: { accountId, part }, transactions, findings };
  }

  async save(tx: Statements, { position, transactions, findings }: AuditProgress): Promise<void> {
    const { accountId, part } = position;
    const { availableMicros, heldMicros, consumedMicros } = part?.sums ?? NOTHING;
    const day = part?.day ? JSON.stringify(storedDay(part.day, part.reachedAt)) : null;
    await tx.execute(Prisma.sql`
      INSERT INTO ledger_audit_progress (name, account_id, reached_at, available_micros, held_micros, consumed_micros,
        day_sums, transactions, findings)
      VALUES (${NAME}, ${accountId}::uuid, ${part?.reachedAt ?? null}::timestamptz, ${availableMicros}, ${heldMicros},
        ${consumedMicros}, ${day}::jsonb, ${transactions}, ${findings})
      ON CONFLICT (name) DO UPDATE SET account_id = excluded.account_id, reached_at = excluded.reached_at,
        available_micros = excluded.available_micros, held_micros = excluded.held_micros,
        consumed_micros = excluded.consumed_micros, day_sums = excluded.day_sums, transactions = excluded.transactions, findings = excluded.findings,
        updated_at = now()`);
  }
}
