-- How far the audit of the ledger got in its present round, so that a restart continues there. One row.
CREATE TABLE ledger_audit_progress (
    name text PRIMARY KEY,
    -- The last account that was read; with reached_at: up to this time, and its books sum to what stands here.
    account_id uuid NOT NULL,
    reached_at timestamptz(3),
    available_micros bigint NOT NULL DEFAULT 0,
    held_micros bigint NOT NULL DEFAULT 0,
    consumed_micros bigint NOT NULL DEFAULT 0,
    -- Of the round: transactions that were read, and findings.
    transactions bigint NOT NULL DEFAULT 0,
    findings integer NOT NULL DEFAULT 0,
    updated_at timestamptz(3) NOT NULL DEFAULT now()
);
