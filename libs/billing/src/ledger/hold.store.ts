import { newId } from '@millrace/contracts';
import { statementPart, type StatementPart } from '@millrace/database';
import {
  exhaustionPart,
  extensionPart,
  type ExtensibleColumn,
  type ExtensionTerms,
  type MeteredColumn,
} from '../price';

/*
 * The parts by which the statements of a job hold credits, extend the hold, and end it with the charge. Every one of them
 * changes the balance in the statement that writes the entries.
 *
 * An UPDATE first makes its row from the version in its snapshot and checks the constraints on that, and only then finds that
 * there is a later version. What a statement waited for may not be in its snapshot, so the parts lock a balance first and
 * make the new row from the locked one.
 *
 * Its cause makes a transaction unique for all time. A job has one hold, and one end of it: a charge (`settle`) or a release
 * of everything (`release`). The cause of an extension contains what was held before it, which only grows.
 */

export interface Hold {
  accountId: string;
  /** Yields the job's id. */
  job: StatementPart<'id'>;
  amountMicros: bigint;
}

/** The reason with which a statement refuses itself when the account cannot cover a hold. */
export const INSUFFICIENT_CREDITS = 'insufficient_credits';

/**
 * Refuse the statement when the account has less available at first look, without a lock: before much is written that a refusal
 * would undo. Only `holdPart` decides. Yields one row.
 *
 * @param after a part that must have yielded its row first.
 */
export function coversHoldPart({ accountId, amountMicros }: Omit<Hold, 'job'>, after: StatementPart): StatementPart {
  return statementPart('covered')`
    SELECT FROM ${after} WHERE EXISTS (
      SELECT FROM balances WHERE account_id = ${accountId}::uuid AND available_micros >= ${amountMicros}
    ) OR refuse(${INSUFFICIENT_CREDITS})`;
}

/**
 * Set an amount aside for a job, or refuse the statement when the account has less. Yields one row.
 *
 * @param after a part that must have yielded its row first.
 */
export function holdPart(hold: Hold, after: StatementPart): StatementPart {
  const balance = statementPart('balance')`
    INSERT INTO balances AS b (account_id) SELECT ${hold.accountId}::uuid FROM ${after}
      WHERE ${hold.amountMicros} = 0 OR EXISTS (SELECT FROM balances WHERE account_id = ${hold.accountId}::uuid)
        OR refuse(${INSUFFICIENT_CREDITS})
    ON CONFLICT (account_id) DO UPDATE
      SET available_micros = b.available_micros - ${hold.amountMicros},
          held_micros = b.held_micros + ${hold.amountMicros}, updated_at = now()
      WHERE b.available_micros >= ${hold.amountMicros} OR refuse(${INSUFFICIENT_CREDITS})
    RETURNING 1`;
  const transaction = statementPart<'id'>('hold_transaction')`
    INSERT INTO ledger_transactions (id, account_id, kind, job_id, cause, actor)
    SELECT ${newId()}::uuid, ${hold.accountId}::uuid, 'hold', j.id, 'job:' || j.id || ':hold', 'submission'
    FROM ${hold.job} j, ${balance}
    RETURNING id`;
  return statementPart('hold')`
    INSERT INTO ledger_entries (transaction_id, line, from_book, to_book, amount_micros)
    SELECT id, 1, 'available', 'held', ${hold.amountMicros} FROM ${transaction}
    RETURNING 1`;
}

/** A hold of each of many jobs. `hold_id` becomes the id of its transaction; jobs with `hold_micros` 0 have none. */
export type Holds = StatementPart<'id' | 'account_id' | 'hold_id' | 'hold_micros'>;

/**
 * Set amounts aside for many jobs, as `holdPart` does for one, or refuse the statement when any account has less than all of its
 * own. Yields a row for each hold.
 *
 * @param after a part that must have run first.
 */
export function holdsPart(holds: Holds, after: StatementPart): StatementPart {
  return holdEntriesPart(holds, setAsidePart(holds, after));
}

/**
 * The balances of the accounts of many holds: one change of each by their sum, in the order of accounts, so that no two statements wait
 * for each other in a circle; the statement is refused when any account has less. `holdEntriesPart` writes what belongs to it. Yields a row
 * for each account.
 *
 * @param after a part that must have run first.
 */
export function setAsidePart(holds: StatementPart<'account_id' | 'hold_micros'>, after: StatementPart): StatementPart {
  const sums = statementPart('hold_sums')`
    SELECT account_id, sum(hold_micros)::bigint AS amount FROM ${holds} WHERE hold_micros > 0 GROUP BY account_id`;
  return statementPart('hold_balances')`
    INSERT INTO balances AS b (account_id, held_micros)
    SELECT s.account_id, s.amount FROM ${sums} s, (SELECT count(*) FROM ${after}) AS done
    WHERE (SELECT true FROM balances WHERE account_id = s.account_id) OR refuse(${INSUFFICIENT_CREDITS})
    ORDER BY s.account_id
    ON CONFLICT (account_id) DO UPDATE
      SET available_micros = b.available_micros - excluded.held_micros,
          held_micros = b.held_micros + excluded.held_micros, updated_at = now()
      WHERE b.available_micros >= excluded.held_micros OR refuse(${INSUFFICIENT_CREDITS})
    RETURNING 1`;
}

/**
 * The entries of many holds, without the balances: `setAsidePart` changes those in the same transaction, or nothing may be committed. Yields a
 * row for each hold.
 *
 * @param after a part that must have run first.
 */
export function holdEntriesPart(holds: Holds, after: StatementPart): StatementPart {
  const transactions = statementPart<'id'>('hold_transactions')`
    INSERT INTO ledger_transactions (id, account_id, kind, job_id, cause, actor)
    SELECT h.hold_id, h.account_id, 'hold', h.id, 'job:' || h.id || ':hold', 'submission'
    FROM ${holds} h, (SELECT count(*) FROM ${after}) AS done WHERE h.hold_micros > 0
    RETURNING id`;
  return statementPart('holds')`
    INSERT INTO ledger_entries (transaction_id, line, from_book, to_book, amount_micros)
    SELECT t.id, 1, 'available', 'held', h.hold_micros FROM ${transactions} t JOIN ${holds} h ON h.hold_id = t.id
    RETURNING 1`;
}

/** A running job, locked by its statement. `may_extend`: it is not about to end. */
export type HeldRun = StatementPart<ExtensibleColumn | 'account_id' | 'may_extend'>;

/**
 * Extend the hold of the one job that `run` yields at most, from what its account has available: by what `extensionMicros`
 * says, or by all there is when that is less.
 *
 * What a run that outlasts its hold has held is spent, though not charged yet: so an extension that leaves less available than the
 * account wants to be warned of is the moment of `credits.low` (trigger `balances_low_event_trigger`). All other changes of a
 * balance have it decided by the trigger `balances_low_trigger`.
 *
 * @returns `hold`, the row of the job with its hold as it is now; and the parts that write.
 */
export function extendHold(
  run: HeldRun,
  terms: ExtensionTerms,
): { hold: StatementPart<'id' | 'held_micros' | 'is_exhausted'>; writes: StatementPart[] } {
  const due = extensionPart(run, terms);
  const extension = statementPart<'job_id' | 'account_id' | 'amount'>('extension')`
    SELECT d.id AS job_id, d.account_id, d.held_micros, least(b.available_micros, d.extend_micros) AS amount,
      b.available_micros AS available, b.held_micros AS held, b.alert_below_micros, b.alerted_at
    FROM ${due} d JOIN balances b ON b.account_id = d.account_id
    WHERE d.may_extend AND d.extend_micros > 0 AND b.available_micros > 0 FOR NO KEY UPDATE OF b`;
  const extended = statementPart<MeteredColumn>('extended')`
    SELECT d.id, d.price_micros_per_second, d.used_ms,
      d.held_micros + coalesce((SELECT amount FROM ${extension}), 0) AS held_micros
    FROM ${due} d`;
  const balance = statementPart('extension_balance')`
    UPDATE balances b
    SET available_micros = x.available - x.amount, held_micros = x.held + x.amount, updated_at = now(),
      alerted_at = CASE WHEN x.available - x.amount < x.alert_below_micros THEN coalesce(x.alerted_at, now()) ELSE x.alerted_at END
    FROM ${extension} x WHERE b.account_id = x.account_id
    RETURNING 1`;
  const transaction = statementPart<'id'>('extension_transaction')`
    INSERT INTO ledger_transactions (id, account_id, kind, job_id, cause, actor)
    SELECT gen_random_uuid(), account_id, 'extend_hold', job_id, 'job:' || job_id || ':extend:' || held_micros, 'lifecycle'
    FROM ${extension}
    RETURNING id`;
  const entry = statementPart('extension_entry')`
    INSERT INTO ledger_entries (transaction_id, line, from_book, to_book, amount_micros)
    SELECT t.id, 1, 'available', 'held', x.amount FROM ${transaction} t, ${extension} x
    RETURNING 1`;
  return { hold: exhaustionPart(extended), writes: [balance, entry] };
}

/**
 * End the hold of the one job that `ended` yields at most: what is charged becomes revenue, the rest is available again. A
 * job without a hold is passed over.
 */
export function endHoldParts(
  ended: StatementPart<'id' | 'account_id' | 'held_micros' | 'charged_micros'>,
): StatementPart[] {
  const transaction = statementPart<'id' | 'job_id'>('end_transaction')`
    INSERT INTO ledger_transactions (id, account_id, kind, job_id, cause, actor)
    SELECT gen_random_uuid(), account_id, CASE WHEN charged_micros > 0 THEN 'settle' ELSE 'release' END, id,
           'job:' || id || ':end', 'lifecycle'
    FROM ${ended} WHERE held_micros > 0
    RETURNING id, job_id`;
  const entries = statementPart('end_entries')`
    INSERT INTO ledger_entries (transaction_id, line, from_book, to_book, amount_micros)
    SELECT t.id, l.line, 'held', l.book, l.amount
    FROM ${transaction} t JOIN ${ended} e ON e.id = t.job_id
    CROSS JOIN LATERAL (VALUES (1, 'revenue', e.charged_micros), (2, 'available', e.held_micros - e.charged_micros))
      AS l (line, book, amount)
    WHERE l.amount > 0
    RETURNING 1`;
  const now = statementPart<'account_id' | 'held' | 'available' | 'consumed'>('end_balance_now')`
    SELECT b.account_id, b.held_micros - e.held_micros AS held,
      b.available_micros + e.held_micros - e.charged_micros AS available,
      b.consumed_micros + e.charged_micros AS consumed
    FROM ${ended} e JOIN balances b ON b.account_id = e.account_id WHERE e.held_micros > 0 FOR NO KEY UPDATE OF b`;
  const balance = statementPart('end_balance')`
    UPDATE balances b
    SET held_micros = n.held, available_micros = n.available, consumed_micros = n.consumed, updated_at = now()
    FROM ${now} n WHERE b.account_id = n.account_id
    RETURNING 1`;
  return [entries, balance];
}
