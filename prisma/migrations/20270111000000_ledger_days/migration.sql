-- What a day, UTC, changed in an account's credits, of days in which something was posted. A day gets its row when nothing can be posted to it
-- any more, and after all days before it. `close-ledger-days` writes them; monthly statements are made of them.
CREATE TABLE ledger_days (
    account_id uuid NOT NULL,
    ends timestamptz(3) NOT NULL,
    grants_micros bigint NOT NULL,
    top_ups_micros bigint NOT NULL,
    charges_micros bigint NOT NULL,
    expiries_micros bigint NOT NULL,
    corrections_micros bigint NOT NULL,
    closing_micros bigint NOT NULL,
    CONSTRAINT ledger_days_pkey PRIMARY KEY (account_id, ends),
    CONSTRAINT ledger_days_account_id_fkey FOREIGN KEY (account_id) REFERENCES balances(account_id) ON UPDATE RESTRICT ON DELETE RESTRICT
);
