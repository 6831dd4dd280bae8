import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import type { LedgerKind } from './ledger';
import { isFinal, type Statement } from './statement';

/** A transaction of the ledger as its account's holder sees it. */
export interface LedgerRecord {
  id: string;
  at: Date;
  kind: LedgerKind;
  jobId: string | null;
  corrects: string | null;
  reason: string | null;
  expiresAt: Date | null;
  /** Change of what the account has free, and of what is set aside. */
  availableMicros: bigint;
  heldMicros: bigint;
}

/** A place in the ledger: times are not unique, so the id is part of it. */
export interface LedgerPosition {
  at: Date;
  id: string;
}

interface LedgerRow {
  id: string;
  at: Date;
  kind: LedgerKind;
  job_id: string | null;
  corrects: string | null;
  reason: string | null;
  expires_at: Date | null;
  available: bigint;
  held: bigint;
}

type StatementRow = Record<
  'opening' | 'grants' | 'top_ups' | 'charges' | 'expiries' | 'corrections' | 'movements',
  bigint
> & { now: Date };

/** What the ledger is read for: pages, and statements. */
export class LedgerReadsStore {
  /** Transactions of an account, the latest first. */
  async page(tx: Statements, accountId: string, after: LedgerPosition | null, limit: number): Promise<LedgerRecord[]> {
    const further = after === null ? Prisma.sql`true` : Prisma.sql`(t.at, t.id) < (${after.at}, ${after.id}::uuid)`;
    const rows = await tx.query<LedgerRow>(Prisma.sql`
      SELECT t.id, t.at, t.kind, t.job_id, t.corrects, t.reason, t.expires_at, m.available, m.held
      FROM ledger_transactions t
      CROSS JOIN LATERAL (
        SELECT coalesce(sum(${changeOf('available')}), 0)::bigint AS available,
          coalesce(sum(${changeOf('held')}), 0)::bigint AS held
        FROM ledger_entries e WHERE e.transaction_id = t.id
      ) m
      WHERE t.account_id = ${accountId}::uuid AND ${further}
      ORDER BY t.at DESC, t.id DESC LIMIT ${limit}`);
    return rows.map(({ job_id: jobId, expires_at: expiresAt, available, held, ...row }) => ({
      ...row,
      jobId,
      expiresAt,
      availableMicros: available,
      heldMicros: held,
    }));
  }

  /** What came and went in [from, to), and what there was before. */
  async statement(tx: Statements, accountId: string, span: { from: Date; to: Date }): Promise<Statement> {
    const { from, to } = span;
    const within = (kinds: Prisma.Sql): Prisma.Sql =>
      Prisma.sql`coalesce(sum(m.change) FILTER (WHERE m.at >= ${from} AND ${kinds}), 0)::bigint`;
    const [row] = await tx.query<StatementRow>(Prisma.sql`
      SELECT now(), coalesce(sum(m.change) FILTER (WHERE m.at < ${from}), 0)::bigint AS opening,
        ${within(Prisma.sql`m.kind = 'grant'`)} AS grants,
        ${within(Prisma.sql`m.kind = 'top_up'`)} AS top_ups,
        ${within(Prisma.sql`m.kind IN ('hold', 'extend_hold', 'settle', 'release')`)} AS charges,
        ${within(Prisma.sql`m.kind = 'expire'`)} AS expiries,
        ${within(Prisma.sql`m.kind = 'correction'`)} AS corrections,
        ${within(Prisma.sql`true`)} AS movements
      FROM (
        SELECT t.at, t.kind, ${changeOf('available')} + ${changeOf('held')} AS change
        FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
        WHERE t.account_id = ${accountId}::uuid AND t.at < ${to}
      ) m`);
    if (row === undefined) throw new Error('a sum over nothing is a row of zeros');
    return {
      ...span,
      final: isFinal(to, row.now),
      openingMicros: row.opening,
      closingMicros: row.opening + row.movements,
      grantsMicros: row.grants,
      topUpsMicros: row.top_ups,
      chargesMicros: row.charges,
      expiriesMicros: row.expiries,
      correctionsMicros: row.corrections,
    };
  }
}

const changeOf = (book: 'available' | 'held'): Prisma.Sql => Prisma.sql`
  (CASE WHEN e.to_book = ${book} THEN e.amount_micros ELSE 0 END
    - CASE WHEN e.from_book = ${book} THEN e.amount_micros ELSE 0 END)`;
