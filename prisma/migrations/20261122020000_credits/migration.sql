-- Credits: what left an account is counted once and drawn from its lots later; engine time is known while a job runs.

-- Whatever leaves an account for good counts, not charges alone: a take-back is drawn from lots like a charge.
ALTER TABLE balances RENAME COLUMN charged_micros TO consumed_micros;

UPDATE balances b SET consumed_micros = c.micros
FROM (
    SELECT t.account_id, sum(e.amount_micros) AS micros
    FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
    WHERE e.from_book = 'held' AND e.to_book = 'revenue' GROUP BY t.account_id
) c WHERE c.account_id = b.account_id;
INSERT INTO credit_lots (transaction_id, account_id, remaining_micros, expires_at)
SELECT t.id, t.account_id, e.amount_micros, t.expires_at
FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
WHERE t.kind IN ('grant', 'top_up')
ON CONFLICT (transaction_id) DO NOTHING;

-- An expiry takes a grant back, in part or whole, as a correction does: both name what they follow.
ALTER TABLE ledger_transactions DROP CONSTRAINT ledger_transactions_correction_check;
ALTER TABLE ledger_transactions
    ADD CONSTRAINT ledger_transactions_corrects_check CHECK ((kind IN ('correction', 'expire')) = (corrects IS NOT NULL)),
    ADD CONSTRAINT ledger_transactions_expires_check CHECK (expires_at IS NULL OR kind = 'grant');

-- Engine time of the present attempt, as its worker last told it.
ALTER TABLE jobs ADD COLUMN engine_ms BIGINT NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD CONSTRAINT jobs_engine_ms_check CHECK (engine_ms >= 0);
