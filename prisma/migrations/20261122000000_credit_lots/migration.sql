-- Credits by where they came from, so that some of them can expire; and what is known of how long workers take to start.

-- Charges are counted on the balance row, which the end of a job writes anyway, and drawn from lots later and together:
-- nothing on the path of a job reads or writes a lot.
ALTER TABLE balances
    ADD COLUMN charged_micros BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN drawn_micros BIGINT NOT NULL DEFAULT 0;

CREATE TABLE credit_lots (
    transaction_id UUID NOT NULL,
    account_id UUID NOT NULL,
    remaining_micros BIGINT NOT NULL,
    drawn_micros BIGINT NOT NULL DEFAULT 0,
    expires_at TIMESTAMPTZ(3),

    CONSTRAINT credit_lots_pkey PRIMARY KEY (transaction_id)
);
ALTER TABLE credit_lots ADD CONSTRAINT credit_lots_transaction_id_fkey FOREIGN KEY (transaction_id) REFERENCES ledger_transactions(id) ON DELETE RESTRICT ON UPDATE RESTRICT;
ALTER TABLE credit_lots ADD CONSTRAINT credit_lots_account_id_fkey FOREIGN KEY (account_id) REFERENCES balances(account_id) ON DELETE RESTRICT ON UPDATE RESTRICT;

INSERT INTO credit_lots (transaction_id, account_id, remaining_micros, expires_at)
SELECT t.id, t.account_id, e.amount_micros, t.expires_at
FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
WHERE t.kind IN ('grant', 'top_up');
UPDATE balances b SET charged_micros = c.micros
FROM (
    SELECT t.account_id, sum(e.amount_micros) AS micros
    FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
    WHERE e.to_book = 'revenue' GROUP BY t.account_id
) c WHERE c.account_id = b.account_id;

ALTER TABLE balances
    ADD CONSTRAINT balances_drawn_check CHECK (drawn_micros BETWEEN 0 AND charged_micros);
ALTER TABLE credit_lots
    ADD CONSTRAINT credit_lots_amounts_check CHECK (remaining_micros >= 0 AND drawn_micros >= 0);
CREATE INDEX credit_lots_account_id_idx ON credit_lots (account_id);
CREATE INDEX credit_lots_expiry_idx ON credit_lots (expires_at) WHERE expires_at IS NOT NULL AND remaining_micros > 0;

-- A ledger is read by time, and ids of one account come from several processes' clocks.
CREATE INDEX ledger_transactions_account_id_at_id_idx ON ledger_transactions (account_id, at, id);
DROP INDEX ledger_transactions_account_id_id_idx;
CREATE INDEX ledger_transactions_corrects_idx ON ledger_transactions (corrects) WHERE corrects IS NOT NULL;

ALTER TABLE workers ADD COLUMN ready_at TIMESTAMPTZ(3);
CREATE INDEX workers_start_idx ON workers (pool_id, ready_at) WHERE ready_at IS NOT NULL;
ALTER TABLE deployments ADD COLUMN wanted_at TIMESTAMPTZ(3);
-- Grants expire by their lot.
DROP INDEX ledger_transactions_expiry_idx;
