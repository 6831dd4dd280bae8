import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { isWithin, type AuditSpan, type BookSums } from '../audit';
import type { LotChange, LotState } from './rebuilt-lots';

/** A balance as it is stored, in micro-credits. */
export interface StoredBalance extends BookSums {
  /** What lots were drawn for. */
  drawnMicros: bigint;
}

/** A hold that no end followed, though its job has ended or is no more. */
export interface OrphanHold {
  jobId: string;
  heldMicros: bigint;
  /** What the job was charged by its usage record and its row. */
  chargedMicros: bigint;
  /** A charge is posted on the day (UTC) of its usage record; one of another day, or without one, cannot be posted now. */
  canEnd: boolean;
}

/** Who has an account rebuilt, and why. */
export interface RepairNote {
  actor: string;
  reason: string;
}

/** What a span of an account's ledger has that a rebuild compares: transactions that brought credits, and jobs whose hold nothing ended. */
export interface SpanContents {
  broughtBy: string[];
  orphanJobs: string[];
}

const ENDS = Prisma.sql`('settle', 'release')`;
const lacking = (accountId: string): Prisma.Sql => Prisma.sql`
  SELECT a.id FROM (SELECT ${accountId}::uuid AS id) a
  WHERE NOT EXISTS (SELECT FROM balances b WHERE b.account_id = a.id)
    AND EXISTS (SELECT FROM ledger_transactions t WHERE t.account_id = a.id)`;

/** The SQL of rebuilding an account's balance and lots from its ledger. Callers that write have locked the balance. */
export class RepairStore {
  /** Lock the balance of an account for the rest of the transaction. All other changes of its credits wait. @returns null where it has none. */
  async lock(tx: Statements, accountId: string): Promise<StoredBalance | null> {
    const [balance] = await tx.rows<StoredBalance>(Prisma.sql`
      SELECT available_micros, held_micros, consumed_micros, drawn_micros FROM balances
      WHERE account_id = ${accountId}::uuid FOR NO KEY UPDATE`);
    return balance ?? null;
  }

  /** The account has movements and no balance. */
  async lacksBalance(tx: Statements, accountId: string): Promise<boolean> {
    const rows = await tx.rows(Prisma.sql`SELECT 1 FROM (${lacking(accountId)}) l`);
    return rows.length > 0;
  }

  /** Make an empty balance where the account has movements and none; it is locked then. @returns whether it was made. */
  async addBalance(tx: Statements, accountId: string): Promise<boolean> {
    const added = await tx.execute(Prisma.sql`
      INSERT INTO balances (account_id) ${lacking(accountId)} ON CONFLICT (account_id) DO NOTHING`);
    return added > 0;
  }

  async contents(tx: Statements, accountId: string, span: AuditSpan): Promise<SpanContents> {
    const ofSpan = Prisma.sql`t.account_id = ${accountId}::uuid AND ${isWithin('t.at', span)}`;
    const brought = await tx.rows<{ id: string }>(Prisma.sql`
      SELECT t.id FROM ledger_transactions t WHERE ${ofSpan} AND t.kind IN ('grant', 'top_up', 'correction')
        AND EXISTS (SELECT FROM ledger_entries e WHERE e.transaction_id = t.id AND e.to_book = 'available')`);
    const orphans = await tx.rows<{ jobId: string }>(Prisma.sql`
      SELECT t.job_id FROM ledger_transactions t LEFT JOIN jobs j ON j.id = t.job_id
      WHERE ${ofSpan} AND t.kind = 'hold' AND (j.id IS NULL OR j.delivery = 'done') AND ${isUnended('t.job_id', accountId)}`);
    return { broughtBy: brought.map(({ id }) => id), orphanJobs: orphans.map(({ jobId }) => jobId) };
  }

  /** Of jobs, the holds that nothing ended. */
  async orphans(tx: Statements, accountId: string, jobIds: readonly string[]): Promise<OrphanHold[]> {
    return tx.rows(Prisma.sql`
      SELECT h.job_id, h.held_micros, coalesce(u.charged_micros, j.charged_micros, 0)::bigint AS charged_micros,
        coalesce(u.charged_micros, j.charged_micros, 0) = 0 OR (
          u.charged_micros <= h.held_micros AND (j.id IS NULL OR j.charged_micros IS NOT DISTINCT FROM u.charged_micros)
          AND (u.finished_at AT TIME ZONE 'UTC')::date = (now() AT TIME ZONE 'UTC')::date
        ) IS TRUE AS can_end
      FROM (
        SELECT t.job_id, sum(e.amount_micros)::bigint AS held_micros
        FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
        WHERE t.job_id = ANY(${jobIds}::uuid[]) AND t.account_id = ${accountId}::uuid AND t.kind IN ('hold', 'extend_hold')
        GROUP BY t.job_id
      ) h
      LEFT JOIN jobs j ON j.id = h.job_id
      LEFT JOIN usage_records u ON u.job_id = h.job_id AND u.account_id = ${accountId}::uuid
      WHERE (j.id IS NULL OR j.delivery = 'done') AND ${isUnended('h.job_id', accountId)}
      ORDER BY h.job_id`);
  }

  /** What jobs that have not ended hold, by their own rows: their ends give it back, or charge it. */
  async heldByJobs(tx: Statements, accountId: string): Promise<bigint> {
    const [row] = await tx.rows<{ micros: bigint }>(Prisma.sql`
      SELECT coalesce(sum(held_micros), 0)::bigint AS micros FROM jobs WHERE account_id = ${accountId}::uuid AND delivery <> 'done'`);
    return row?.micros ?? 0n;
  }

  /** The lots of an account, beside what its ledger says of each. @param broughtBy the transactions that brought it credits. */
  async lots(tx: Statements, accountId: string, broughtBy: readonly string[]): Promise<LotState[]> {
    const rows = await tx.rows<LotRow>(Prisma.sql`
      SELECT coalesce(b.id, l.transaction_id) AS transaction_id, coalesce(b.expires_at, l.expires_at) AS expires_at,
        (coalesce(b.brought, 0) - coalesce(x.expired, 0))::bigint AS brought_micros, l.remaining_micros, l.drawn_micros,
        (l.account_id = ${accountId}::uuid AND l.expires_at IS NOT DISTINCT FROM b.expires_at) IS TRUE AS is_bound
      FROM (
        SELECT t.id, t.expires_at, sum(e.amount_micros) AS brought
        FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
        WHERE t.id = ANY(${broughtBy}::uuid[]) AND e.to_book = 'available' GROUP BY t.id
      ) b
      FULL JOIN (
        SELECT * FROM credit_lots WHERE account_id = ${accountId}::uuid OR transaction_id = ANY(${broughtBy}::uuid[])
      ) l ON l.transaction_id = b.id
      LEFT JOIN LATERAL (
        SELECT sum(e.amount_micros) AS expired FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
        WHERE t.corrects = b.id AND t.kind = 'expire'
      ) x ON true`);
    return rows.map(({ remainingMicros, drawnMicros, ...state }) => {
      const isStored = remainingMicros !== null && drawnMicros !== null;
      return { ...state, stored: isStored ? { remainingMicros, drawnMicros } : null };
    });
  }

  async setBalance(tx: Statements, accountId: string, balance: StoredBalance): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE balances SET available_micros = ${balance.availableMicros}, held_micros = ${balance.heldMicros},
        consumed_micros = ${balance.consumedMicros}, drawn_micros = ${balance.drawnMicros}, updated_at = now()
      WHERE account_id = ${accountId}::uuid`);
  }

  async setLots(tx: Statements, accountId: string, changes: readonly LotChange[]): Promise<void> {
    await tx.execute(Prisma.sql`
      INSERT INTO credit_lots AS l (transaction_id, account_id, remaining_micros, drawn_micros, expires_at)
      SELECT t.id, ${accountId}::uuid, c.remaining, c.drawn, t.expires_at
      FROM unnest(${changes.map((change) => change.transactionId)}::uuid[],
        ${changes.map(({ after }) => after.remainingMicros)}::bigint[], ${changes.map(({ after }) => after.drawnMicros)}::bigint[])
        AS c (id, remaining, drawn) JOIN ledger_transactions t ON t.id = c.id
      ON CONFLICT (transaction_id) DO UPDATE SET account_id = excluded.account_id, expires_at = excluded.expires_at,
        remaining_micros = excluded.remaining_micros, drawn_micros = excluded.drawn_micros`);
  }

  /** Post the ends of holds, without the balance: `setBalance` has them in it. */
  async endHolds(tx: Statements, accountId: string, note: RepairNote, ends: readonly OrphanHold[]): Promise<void> {
    await tx.execute(Prisma.sql`
      WITH ended AS MATERIALIZED (
        SELECT * FROM unnest(${ends.map((end) => end.jobId)}::uuid[], ${ends.map((end) => end.heldMicros)}::bigint[],
          ${ends.map((end) => end.chargedMicros)}::bigint[]) AS e (job_id, held, charged)
      ), made AS (
        INSERT INTO ledger_transactions (id, account_id, kind, job_id, cause, actor, reason)
        SELECT gen_random_uuid(), ${accountId}::uuid, CASE WHEN charged > 0 THEN 'settle' ELSE 'release' END, job_id,
          'job:' || job_id || ':end', ${note.actor}, ${note.reason}
        FROM ended RETURNING id, job_id
      )
      INSERT INTO ledger_entries (transaction_id, line, from_book, to_book, amount_micros)
      SELECT made.id, l.line, 'held', l.book, l.amount
      FROM made JOIN ended USING (job_id)
      CROSS JOIN LATERAL (VALUES (1, 'revenue', charged), (2, 'available', held - charged)) AS l (line, book, amount)
      WHERE l.amount > 0`);
  }

  /** Post a grant, without the balance: `setBalance` has it in it. */
  async give(
    tx: Statements,
    accountId: string,
    note: RepairNote,
    grant: { id: string; micros: bigint },
  ): Promise<void> {
    await tx.execute(Prisma.sql`
      WITH made AS (
        INSERT INTO ledger_transactions (id, account_id, kind, cause, actor, reason)
        VALUES (${grant.id}::uuid, ${accountId}::uuid, 'grant', 'rebuild:' || ${grant.id}::text, ${note.actor}, ${note.reason})
        RETURNING id
      )
      INSERT INTO ledger_entries (transaction_id, line, from_book, to_book, amount_micros)
      SELECT id, 1, 'promotions', 'available', ${grant.micros}::bigint FROM made`);
  }
}

interface LotRow extends Omit<LotState, 'stored'> {
  remainingMicros: bigint | null;
  drawnMicros: bigint | null;
}

function isUnended(job: string, accountId: string): Prisma.Sql {
  return Prisma.sql`NOT EXISTS (SELECT FROM ledger_transactions o
    WHERE o.job_id = ${Prisma.raw(job)} AND o.account_id = ${accountId}::uuid AND o.kind IN ${ENDS})`;
}
