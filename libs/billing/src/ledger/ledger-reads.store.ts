import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import type { LedgerKind } from './ledger';
import { LINE_COLUMNS, changeOf, lineSums, movements } from './movements.store';
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

  /**
   * The sums of [from, to), and the balance before. Both are beginnings of days, UTC. Of days that are closed their sums are read, and of
   * those after them the entries.
   */
  async statement(tx: Statements, accountId: string, span: { from: Date; to: Date }): Promise<Statement> {
    const { from, to } = span;
    const closed = Prisma.sql`d.account_id = ${accountId}::uuid AND d.ends <= ${to}::timestamptz`;
    const open = { from: Prisma.sql`(SELECT at FROM reach)`, to: Prisma.sql`${to}::timestamptz` };
    const [sums] = await tx.rows<Omit<Statement, 'from' | 'to' | 'final'> & { now: Date }>(Prisma.sql`
      WITH reach AS (
        SELECT coalesce(max(d.ends), '-infinity') AS at FROM ledger_days d WHERE ${closed}
      ), before AS (
        SELECT coalesce((SELECT d.closing_micros FROM ledger_days d
          WHERE ${closed} AND d.ends <= ${from}::timestamptz ORDER BY d.ends DESC LIMIT 1), 0) AS opening_micros
      ), closed AS (
        SELECT ${joined((line) => `sum(d.${line}) AS ${line}`)} FROM ledger_days d WHERE ${closed} AND d.ends > ${from}::timestamptz
      ), open AS (
        SELECT coalesce(sum(m.change) FILTER (WHERE m.at < ${from}), 0) AS opening_micros,
          ${lineSums(Prisma.sql`m.at >= ${from}`)} FROM (${movements(Prisma.sql`${accountId}::uuid`, open)}) m
      )
      SELECT now(), (b.opening_micros + o.opening_micros)::bigint AS opening_micros,
        (b.opening_micros + o.opening_micros + ${joined((line) => `coalesce(c.${line}, 0) + o.${line}`, ' + ')})::bigint AS closing_micros,
        ${joined((line) => `(coalesce(c.${line}, 0) + o.${line})::bigint AS ${line}`)}
      FROM before b, closed c, open o`);
    if (sums === undefined) throw new Error('a sum over nothing is a row of zeros');
    const { now, ...micros } = sums;
    return { ...span, final: isFinal(to, now), ...micros };
  }
}

/** SQL of each line of a statement, one after the other. */
const joined = (sqlOf: (line: string) => string, separator = ', '): Prisma.Sql =>
  Prisma.raw(LINE_COLUMNS.map(sqlOf).join(separator));
