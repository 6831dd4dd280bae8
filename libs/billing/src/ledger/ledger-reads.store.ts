import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import type { LedgerKind } from './ledger';
import { isFinal, type Statement } from './statement';

/** A transaction of the ledger as its account sees it. */
export interface LedgerRecord {
  id: string;
  at: Date;
  kind: LedgerKind;
  jobId: string | null;
  corrects: string | null;
  reason: string | null;
  expiresAt: Date | null;
  /** Change of the available and of the held credits. */
  availableMicros: bigint;
  heldMicros: bigint;
}

/** A place in the ledger: times are not unique, so the id is part of it. */
export interface LedgerPosition {
  at: Date;
  id: string;
}

/** Reads of the ledger: pages, and statements. */
export class LedgerReadsStore {
  /** Transactions of an account, the latest first. */
  async page(tx: Statements, accountId: string, after: LedgerPosition | null, limit: number): Promise<LedgerRecord[]> {
    const further = after === null ? Prisma.sql`true` : Prisma.sql`(t.at, t.id) < (${after.at}, ${after.id}::uuid)`;
    return tx.rows(Prisma.sql`
      SELECT t.id, t.at, t.kind, t.job_id, t.corrects, t.reason, t.expires_at, m.available_micros, m.held_micros
      FROM ledger_transactions t
      CROSS JOIN LATERAL (
        SELECT coalesce(sum(${changeOf('available')}), 0)::bigint AS available_micros,
          coalesce(sum(${changeOf('held')}), 0)::bigint AS held_micros
        FROM ledger_entries e WHERE e.transaction_id = t.id
      ) m
      WHERE t.account_id = ${accountId}::uuid AND ${further}
      ORDER BY t.at DESC, t.id DESC LIMIT ${limit}`);
  }

  /** The sums of [from, to), and the balance before. */
  async statement(tx: Statements, accountId: string, span: { from: Date; to: Date }): Promise<Statement> {
    const { from, to } = span;
    const within = (kinds: Prisma.Sql): Prisma.Sql =>
      Prisma.sql`coalesce(sum(m.change) FILTER (WHERE m.at >= ${from} AND ${kinds}), 0)::bigint`;
    const [sums] = await tx.rows<Omit<Statement, 'from' | 'to' | 'final'> & { now: Date }>(Prisma.sql`
      SELECT now(), coalesce(sum(m.change) FILTER (WHERE m.at < ${from}), 0)::bigint AS opening_micros,
        coalesce(sum(m.change), 0)::bigint AS closing_micros,
        ${within(Prisma.sql`m.kind = 'grant'`)} AS grants_micros,
        ${within(Prisma.sql`m.kind = 'top_up'`)} AS top_ups_micros,
        ${within(Prisma.sql`m.kind IN ('hold', 'extend_hold', 'settle', 'release')`)} AS charges_micros,
        ${within(Prisma.sql`m.kind = 'expire'`)} AS expiries_micros,
        ${within(Prisma.sql`m.kind = 'correction'`)} AS corrections_micros
      FROM (
        SELECT t.at, t.kind, ${changeOf('available')} + ${changeOf('held')} AS change
        FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
        WHERE t.account_id = ${accountId}::uuid AND t.at < ${to}
      ) m`);
    if (sums === undefined) throw new Error('a sum over nothing is a row of zeros');
    const { now, ...micros } = sums;
    return { ...span, final: isFinal(to, now), ...micros };
  }
}

const changeOf = (book: 'available' | 'held'): Prisma.Sql => Prisma.sql`
  (CASE WHEN e.to_book = ${book} THEN e.amount_micros ELSE 0 END
    - CASE WHEN e.from_book = ${book} THEN e.amount_micros ELSE 0 END)`;
