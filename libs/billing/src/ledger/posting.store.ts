import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import type { Balance } from './balance';
import { effectOf, type LedgerKind, type Move } from './ledger';
import { takenBackEntries } from './taken-back.store';

/** A transaction of the ledger outside a job's life. */
export interface Posting {
  id: string;
  accountId: string;
  kind: LedgerKind;
  /** Unique for all time: the database refuses a second posting for one cause. */
  cause: string;
  /** The transaction that this one takes back, in part or whole. */
  corrects: string | null;
  jobId: string | null;
  actor: string;
  reason: string;
  expiresAt: Date | null;
  moves: Move[];
}

/** A tab is no character of a key (`IDEMPOTENCY_KEY`), so that no cause of a key is that of a part. */
const PART = ' \t';
/** What processes of an earlier version write, and look for at the beginning of `PART`. */
const FORMER_PART = ' ';

/** The cause of a further transaction that is posted for one cause: each corrects another one. */
export function partOf(cause: string, corrects: string): string {
  return `${cause}${PART}${corrects}`;
}

/** What was posted for one cause. */
export interface Posted {
  reason: string | null;
  /** What all its transactions brought the account. */
  amountMicros: bigint;
  /** Of the first of them. */
  corrects: string | null;
  expiresAt: Date | null;
  /** How many they are. */
  parts: number;
}

/** A transaction as corrections see it. */
export interface Original {
  id: string;
  kind: LedgerKind;
  jobId: string | null;
  reason: string | null;
  /** What it brought the account or, of a settlement, what it charged. */
  amountMicros: bigint;
  /** What later transactions have taken back of it, expiries included, less what was given forward again. */
  takenBackMicros: bigint;
  /** Whether it gave back what a settlement had charged. */
  givesBack: boolean;
}

export interface LockedBalance extends Balance {
  consumedMicros: bigint;
  drawnMicros: bigint;
}

/**
 * The SQL of transactions outside a job's life: grants, purchases, expiries, corrections. Callers run it in a transaction that
 * has locked the balance first.
 */
export class PostingStore {
  /** Lock an account's balance, and create it when there is none. All other changes of its credits wait. */
  async lockBalance(tx: Statements, accountId: string): Promise<LockedBalance> {
    const [balance] = await tx.rows<LockedBalance>(Prisma.sql`
      INSERT INTO balances AS b (account_id) VALUES (${accountId}::uuid)
      ON CONFLICT (account_id) DO UPDATE SET updated_at = now()
      RETURNING available_micros, held_micros, consumed_micros, drawn_micros`);
    if (balance === undefined) throw new Error('a balance could not be locked');
    return balance;
  }

  /**
   * Post a transaction and change the balance by it.
   *
   * @throws ConstraintError on CAUSE_CONSTRAINT, or on `balances_never_negative_check`.
   */
  async post(tx: Statements, posting: Posting): Promise<void> {
    const { moves } = posting;
    const effect = effectOf(posting.kind, moves);
    await tx.execute(Prisma.sql`
      WITH made AS (
        INSERT INTO ledger_transactions (id, account_id, kind, job_id, cause, corrects, actor, reason, expires_at)
        VALUES (${posting.id}::uuid, ${posting.accountId}::uuid, ${posting.kind}, ${posting.jobId}::uuid,
          ${posting.cause}, ${posting.corrects}::uuid, ${posting.actor}, ${posting.reason}, ${posting.expiresAt})
        RETURNING id, account_id
      ), balance AS (
        UPDATE balances b SET available_micros = b.available_micros + ${effect.availableMicros},
          held_micros = b.held_micros + ${effect.heldMicros},
          consumed_micros = b.consumed_micros + ${effect.consumedMicros}, updated_at = now()
        FROM made WHERE b.account_id = made.account_id
        RETURNING 1
      )
      INSERT INTO ledger_entries (transaction_id, line, from_book, to_book, amount_micros)
      SELECT made.id, m.line, m.from_book, m.to_book, m.amount
      FROM made, unnest(${moves.map((_, index) => index + 1)}::int[], ${moves.map((move) => move.from)}::text[],
        ${moves.map((move) => move.to)}::text[], ${moves.map((move) => move.amountMicros)}::bigint[])
        AS m (line, from_book, to_book, amount)`);
  }

  /** PostgreSQL's clock, which every time of the ledger is on. */
  async now(tx: Statements): Promise<Date> {
    const [row] = await tx.rows<{ now: Date }>(Prisma.sql`SELECT now()`);
    if (row === undefined) throw new Error('PostgreSQL returned no time');
    return row.now;
  }

  /** What was posted for a cause, and at once for parts of it (`partOf`), to distinguish a repetition from a contradiction. */
  async findByCause(tx: Statements, accountId: string, cause: string): Promise<Posted | null> {
    const [posted] = await tx.rows<Posted>(Prisma.sql`
      SELECT f.reason, f.corrects, f.expires_at, count(DISTINCT t.id)::int AS parts,
        sum(CASE WHEN e.to_book = 'available' THEN e.amount_micros ELSE -e.amount_micros END)::bigint AS amount_micros
      FROM ledger_transactions f
      JOIN ledger_transactions t ON t.account_id = f.account_id AND t.at = f.at AND (t.id = f.id
        OR t.cause IN (f.cause || ${PART}::text || t.corrects, f.cause || ${FORMER_PART}::text || t.corrects))
      JOIN ledger_entries e ON e.transaction_id = t.id
      WHERE f.account_id = ${accountId}::uuid AND f.cause = ${cause} GROUP BY f.id`);
    return posted ?? null;
  }

  /** A transaction of the account, for a correction of it. */
  async findOriginal(tx: Statements, accountId: string, id: string): Promise<Original | null> {
    const [original] = await tx.rows<Original>(Prisma.sql`
      ${originals} WHERE o.account_id = ${accountId}::uuid AND o.id = ${id}::uuid`);
    return original ?? null;
  }

  /** Grants of the account that are not wholly taken back, the latest first. */
  async listGrants(tx: Statements, accountId: string): Promise<Original[]> {
    return tx.rows(Prisma.sql`
      SELECT * FROM (${originals} WHERE o.account_id = ${accountId}::uuid AND o.kind = 'grant') g
      WHERE g.amount_micros > g.taken_back_micros ORDER BY g.at DESC, g.id DESC`);
  }
}

const originals = Prisma.sql`
  SELECT o.id, o.at, o.kind, o.job_id, o.reason, coalesce(m.amount, 0)::bigint AS amount_micros,
         coalesce(c.amount, 0)::bigint AS taken_back_micros,
         o.kind = 'correction' AND coalesce(m.of_revenue, false) AS gives_back
  FROM ledger_transactions o
  LEFT JOIN LATERAL (
    SELECT sum(e.amount_micros) AS amount, bool_or(e.from_book = 'revenue') AS of_revenue FROM ledger_entries e
    WHERE e.transaction_id = o.id AND (o.kind <> 'settle' OR e.to_book = 'revenue')
  ) m ON true
  LEFT JOIN LATERAL (SELECT sum(t.amount) AS amount FROM ${takenBackEntries} t) c ON true`;
