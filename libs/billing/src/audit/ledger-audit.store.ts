import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import type { Finding } from '@millrace/platform';
import { LEDGER_KINDS, MOVES, takenBackEntries } from '../ledger';
import type { AuditSpan, BookSums } from './audit-span';
import { inSpan, isWithin, ofAccounts } from './audit-span.store';
import { closedDays } from './closed-days.store';
import { deliveredExports } from './delivered-exports.store';
import { payments, purchases, topUps } from './paid-top-ups.store';

/** Findings of one check in one span: a broken rule has many, and the first thousand are enough. */
const MOST = 1_000;

/** What each kind may move, for SQL: `grant:promotions>available`. */
const POSSIBLE_MOVES = LEDGER_KINDS.flatMap((kind) => MOVES[kind].map((move) => `${kind}:${move}`));

/**
 * The invariants of credits as SQL. Each check is one statement, so it sees one moment: state and money commit together, and a
 * check with two readings would find differences of what happened in between. It reads jobs, and never writes them.
 */
export class LedgerAuditStore {
  /** Every check, over this span. */
  async *check(tx: Statements, span: AuditSpan): AsyncGenerator<Finding> {
    const checks = span.until === null ? [...OF_MOVEMENTS, ...OF_ACCOUNTS] : OF_MOVEMENTS;
    for (const sql of checks) yield* await tx.rows<Finding>(Prisma.sql`${sql(span)} LIMIT ${MOST}`);
  }

  /**
   * Movements of the span contradict each other, so that no sum of them is right: one that its kind may not make, or of a job more holds, ends or
   * charges than it can have.
   */
  async isBroken(tx: Statements, span: AuditSpan): Promise<boolean> {
    const rows = await tx.rows(Prisma.sql`
      SELECT 1 FROM (${entries(span)}) e
      UNION ALL SELECT 1 FROM (${holds(span)}) h WHERE h."check" = ANY(${CONTRADICTIONS}::text[]) LIMIT 1`);
    return rows.length > 0;
  }

  /** What the movements of the span's accounts sum to up to its end, and how many transactions the span has. */
  async sum(tx: Statements, span: AuditSpan): Promise<BookSums & { transactions: bigint }> {
    const [row] = await tx.rows<BookSums & { transactions: bigint }>(Prisma.sql`
      SELECT ${sumsOf(span)}, count(DISTINCT t.id) AS transactions
      FROM ledger_transactions t LEFT JOIN ledger_entries e ON e.transaction_id = t.id WHERE ${inSpan('t', span)}`);
    if (row === undefined) throw new Error('a sum returned no row');
    return row;
  }
}

/** What holds of each movement, or of what it belongs to: the accounts' movements in a span. */
const OF_MOVEMENTS = [entries, holds, usage, lots, corrections, purchases, closedDays, deliveredExports];
/** What holds of an account as it is now. */
const OF_ACCOUNTS = [balances, missingBalances, lotSums, topUps, payments];
/** Checks of holds by movements alone. The others of them compare with jobs, whose state says nothing of the sums of movements. */
const CONTRADICTIONS = [
  'one-hold-per-job',
  'one-end-per-hold',
  'one-charge-per-job',
  'hold-ends-whole',
  'charge-within-hold',
];

/** Sums over transactions t and their entries e, on top of those of the movements before. */
function sumsOf({ sums }: AuditSpan): Prisma.Sql {
  return Prisma.sql`
    (${sums.availableMicros}::bigint + coalesce(sum(${changeOf('available')}), 0))::bigint AS available_micros,
    (${sums.heldMicros}::bigint + coalesce(sum(${changeOf('held')}), 0))::bigint AS held_micros,
    (${sums.consumedMicros}::bigint + coalesce(sum(e.amount_micros) FILTER (WHERE t.kind <> 'expire'
      AND e.from_book IN ('available', 'held') AND e.to_book NOT IN ('available', 'held')), 0))::bigint AS consumed_micros`;
}

/** One finding per row and fault: (check, whether it is found, detail). */
function faults(list: { check: string; found: Prisma.Sql; detail: Prisma.Sql }[]): Prisma.Sql {
  const values = list.map(
    ({ check, found, detail }) => Prisma.sql`(${check}::text, (${found}) IS TRUE, (${detail})::text)`,
  );
  return Prisma.sql`CROSS JOIN LATERAL (VALUES ${Prisma.join(values)}) AS f ("check", found, detail)`;
}

/** A transaction moves something, between books that its kind may move between: then the books sum to zero. */
function entries(span: AuditSpan): Prisma.Sql {
  return Prisma.sql`
    SELECT 'sum-zero' AS "check", t.id::text AS subject,
      CASE WHEN e.transaction_id IS NULL THEN format('The transaction (%s) moves nothing.', t.kind)
        ELSE format('A %s moves %s from %s to %s.', t.kind, e.amount_micros, e.from_book, e.to_book) END AS detail
    FROM ledger_transactions t LEFT JOIN ledger_entries e ON e.transaction_id = t.id
    WHERE ${inSpan('t', span)} AND (e.transaction_id IS NULL OR e.amount_micros <= 0
      OR t.kind || ':' || e.from_book || '>' || e.to_book <> ALL(${POSSIBLE_MOVES}::text[]))`;
}

/** The balance is what its entries sum to, and neither part of it is below zero. */
function balances(span: AuditSpan): Prisma.Sql {
  const differs = (stored: string): { check: string; found: Prisma.Sql; detail: Prisma.Sql } => ({
    check: 'balance-is-sum',
    found: Prisma.sql`b.${Prisma.raw(stored)}_micros <> s.${Prisma.raw(stored)}_micros`,
    detail: Prisma.sql`format('The balance has %s micro-credits ${Prisma.raw(stored)}, its entries sum to %s.',
      b.${Prisma.raw(stored)}_micros, s.${Prisma.raw(stored)}_micros)`,
  });
  return Prisma.sql`
    SELECT f."check", b.account_id::text AS subject, f.detail
    FROM balances b
    CROSS JOIN LATERAL (
      SELECT ${sumsOf(span)}
      FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
      WHERE t.account_id = b.account_id AND ${isWithin('t.at', span)}
    ) s
    ${faults([
      differs('available'),
      differs('held'),
      differs('consumed'),
      {
        check: 'never-negative',
        found: Prisma.sql`b.available_micros < 0 OR b.held_micros < 0`,
        detail: Prisma.sql`format('The balance is below zero: %s available, %s held.', b.available_micros, b.held_micros)`,
      },
    ])}
    WHERE f.found AND ${ofAccounts('b.account_id', span.accountIds)}`;
}

/** Who has movements has a balance. */
function missingBalances({ accountIds }: AuditSpan): Prisma.Sql {
  return Prisma.sql`
    SELECT 'balance-exists' AS "check", a.id::text AS subject, 'The account has movements and no balance.' AS detail
    FROM unnest(${accountIds}::uuid[]) AS a (id)
    WHERE NOT EXISTS (SELECT FROM balances b WHERE b.account_id = a.id)
      AND EXISTS (SELECT FROM ledger_transactions t WHERE t.account_id = a.id)`;
}

/**
 * A job has one hold and one end of it, one charge within the hold; and its row agrees with the ledger. All movements of a job
 * are read, also those before and after the span.
 */
function holds(span: AuditSpan): Prisma.Sql {
  return Prisma.sql`
    SELECT f."check", m.job_id::text AS subject, f.detail
    FROM (
      SELECT DISTINCT t.job_id, t.account_id FROM ledger_transactions t
      WHERE ${inSpan('t', span)} AND t.job_id IS NOT NULL AND t.kind <> 'correction'
    ) k CROSS JOIN LATERAL (
      SELECT k.job_id, k.account_id,
        coalesce(sum(e.amount_micros) FILTER (WHERE t.kind IN ('hold', 'extend_hold')), 0) AS held,
        coalesce(sum(e.amount_micros) FILTER (WHERE t.kind IN ('settle', 'release')), 0) AS ended,
        coalesce(sum(e.amount_micros) FILTER (WHERE t.kind = 'settle' AND e.to_book = 'revenue'), 0) AS charged,
        count(DISTINCT t.id) FILTER (WHERE t.kind = 'hold') AS holds,
        count(DISTINCT t.id) FILTER (WHERE t.kind IN ('settle', 'release')) AS ends,
        count(*) FILTER (WHERE t.kind = 'settle' AND e.to_book = 'revenue') AS charges
      FROM ledger_transactions t LEFT JOIN ledger_entries e ON e.transaction_id = t.id
      WHERE t.job_id = k.job_id AND t.account_id = k.account_id AND t.kind <> 'correction'
    ) m LEFT JOIN jobs j ON j.id = m.job_id
    ${faults([
      {
        check: 'one-hold-per-job',
        found: Prisma.sql`m.holds > 1`,
        detail: Prisma.sql`format('%s holds were made for the job.', m.holds)`,
      },
      {
        check: 'one-end-per-hold',
        found: Prisma.sql`m.ends > 1`,
        detail: Prisma.sql`format('The hold of the job was ended %s times.', m.ends)`,
      },
      {
        check: 'one-charge-per-job',
        found: Prisma.sql`m.charges > 1`,
        detail: Prisma.sql`format('The job was charged %s times, %s micro-credits together.', m.charges, m.charged)`,
      },
      {
        check: 'orphan-hold',
        found: Prisma.sql`m.held > m.ended AND (j.id IS NULL OR j.delivery = 'done')`,
        detail: Prisma.sql`format('%s micro-credits are held for a job that %s.', m.held - m.ended,
          CASE WHEN j.id IS NULL THEN 'does not exist' ELSE 'is ' || j.status END)`,
      },
      {
        check: 'hold-ends-whole',
        found: Prisma.sql`m.ends > 0 AND m.ended <> m.held`,
        detail: Prisma.sql`format('%s micro-credits were held and %s ended.', m.held, m.ended)`,
      },
      {
        check: 'hold-ends-with-its-job',
        found: Prisma.sql`m.ends > 0 AND j.delivery <> 'done'`,
        detail: Prisma.sql`format('The hold was ended and the job is %s.', j.status)`,
      },
      {
        check: 'charge-within-hold',
        found: Prisma.sql`m.charged > m.held`,
        detail: Prisma.sql`format('%s micro-credits were charged of %s held.', m.charged, m.held)`,
      },
      {
        check: 'job-agrees',
        found: Prisma.sql`j.id IS NOT NULL AND (j.held_micros <> m.held OR coalesce(j.charged_micros, 0) <> m.charged
          OR j.account_id <> m.account_id)`,
        detail: Prisma.sql`format('The job has %s held and %s charged, the ledger %s and %s.', j.held_micros,
          coalesce(j.charged_micros, 0), m.held, m.charged)`,
      },
    ])}
    WHERE f.found`;
}

/** Usage is charged for: each record is what the ledger charged for its job, and each charge has its record. */
function usage(span: AuditSpan): Prisma.Sql {
  return Prisma.sql`
    SELECT 'usage-is-charged' AS "check", k.job_id::text AS subject,
      format('The usage record has %s micro-credits, the ledger charged %s.', coalesce(u.charged_micros::text, 'nothing of'),
        coalesce(c.charged, 0)) AS detail
    FROM (
      SELECT t.job_id, t.account_id FROM ledger_transactions t WHERE ${inSpan('t', span)} AND t.kind = 'settle'
      UNION SELECT r.job_id, r.account_id FROM usage_records r
      WHERE ${ofAccounts('r.account_id', span.accountIds)} AND ${isWithin('r.finished_at', span)}
    ) k
    LEFT JOIN usage_records u ON u.job_id = k.job_id AND u.account_id = k.account_id
    CROSS JOIN LATERAL (
      SELECT sum(e.amount_micros) AS charged
      FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
      WHERE t.job_id = k.job_id AND t.account_id = k.account_id AND t.kind = 'settle' AND e.to_book = 'revenue'
    ) c
    WHERE u.charged_micros IS DISTINCT FROM coalesce(c.charged, 0) AND (u.job_id IS NOT NULL OR c.charged IS NOT NULL)
    UNION ALL
    SELECT 'usage-is-of-the-day-of-its-charge', t.job_id::text, format('The usage is of %s, the charge of %s.', u.finished_at, t.at)
    FROM ledger_transactions t JOIN usage_records u ON u.job_id = t.job_id AND u.account_id = t.account_id
    WHERE ${inSpan('t', span)} AND t.kind = 'settle'
      AND (u.finished_at AT TIME ZONE 'UTC')::date <> (t.at AT TIME ZONE 'UTC')::date`;
}

/** Every transaction that brought credits has a lot: what it brought, less what was drawn from it and has expired. */
function lots(span: AuditSpan): Prisma.Sql {
  return Prisma.sql`
    SELECT 'lot-is-sum' AS "check", g.id::text AS subject,
      CASE WHEN l.transaction_id IS NULL THEN 'Credits were added without a lot.'
        ELSE format('The lot brought %s; %s remain, %s are drawn, %s expired.', g.brought, l.remaining_micros,
          l.drawn_micros, x.expired) END AS detail
    FROM (
      SELECT t.id, t.account_id, t.expires_at, sum(e.amount_micros) AS brought
      FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
      WHERE ${inSpan('t', span)} AND t.kind IN ('grant', 'top_up', 'correction') AND e.to_book = 'available'
      GROUP BY t.id
    ) g
    LEFT JOIN credit_lots l ON l.transaction_id = g.id
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(e.amount_micros), 0) AS expired
      FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
      WHERE t.corrects = g.id AND t.kind = 'expire'
    ) x
    WHERE l.transaction_id IS NULL OR l.account_id <> g.account_id OR l.expires_at IS DISTINCT FROM g.expires_at
      OR g.brought <> l.remaining_micros + l.drawn_micros + x.expired`;
}

/** The lots together have what the account has and what is still to be drawn from them. */
function lotSums({ accountIds }: AuditSpan): Prisma.Sql {
  return Prisma.sql`
    SELECT 'lots-are-balance' AS "check", b.account_id::text AS subject,
      format('The lots have %s and %s drawn; the balance has %s and %s.', s.remaining, s.drawn,
        b.available_micros + b.held_micros + b.consumed_micros - b.drawn_micros, b.drawn_micros) AS detail
    FROM balances b
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(remaining_micros), 0) AS remaining, coalesce(sum(drawn_micros), 0) AS drawn
      FROM credit_lots l WHERE l.account_id = b.account_id
    ) s
    WHERE ${ofAccounts('b.account_id', accountIds)} AND (s.drawn <> b.drawn_micros
      OR s.remaining <> b.available_micros + b.held_micros + b.consumed_micros - b.drawn_micros)`;
}

/** Nothing is taken back, or has expired, beyond what there was; and never another account's. */
function corrections(span: AuditSpan): Prisma.Sql {
  return Prisma.sql`
    SELECT 'correction-within-original' AS "check", o.id::text AS subject,
      format('A %s of %s was taken back by %s, %s of them of another account.', o.kind, m.amount, c.amount, c.foreign_count)
        AS detail
    FROM ledger_transactions o
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(e.amount_micros), 0) AS amount FROM ledger_entries e
      WHERE e.transaction_id = o.id AND (o.kind <> 'settle' OR e.to_book = 'revenue')
    ) m
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(t.amount), 0) AS amount, count(*) FILTER (WHERE t.account_id <> o.account_id) AS foreign_count
      FROM ${takenBackEntries} t
    ) c
    WHERE ${inSpan('o', span)} AND o.kind IN ('grant', 'top_up', 'settle', 'correction')
      AND (c.amount NOT BETWEEN 0 AND m.amount OR c.foreign_count > 0)`;
}

function changeOf(book: 'available' | 'held'): Prisma.Sql {
  return Prisma.sql`CASE WHEN e.to_book = ${book} THEN e.amount_micros ELSE 0 END
    - CASE WHEN e.from_book = ${book} THEN e.amount_micros ELSE 0 END`;
}
