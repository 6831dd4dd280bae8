import { Prisma } from '@prisma/client';

/**
 * The entries of what corrects or expires a transaction `o`, as (account_id, amount): below zero where they give forward again what
 * others of them took back. Of a purchase that is a correction after which its money stayed, of a settlement a correction of what was
 * given back of it.
 */
export const takenBackEntries = Prisma.sql`(
  SELECT c.account_id,
    CASE WHEN o.kind <> 'settle' AND e.to_book = 'available' THEN -e.amount_micros ELSE e.amount_micros END AS amount
  FROM ledger_transactions c JOIN ledger_entries e ON e.transaction_id = c.id WHERE c.corrects = o.id
  UNION ALL
  SELECT u.account_id, -e.amount_micros
  FROM ledger_transactions c JOIN ledger_transactions u ON u.corrects = c.id JOIN ledger_entries e ON e.transaction_id = u.id
  WHERE c.corrects = o.id AND o.kind = 'settle')`;
