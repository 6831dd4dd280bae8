-- Credits bought through a payment provider, and what the provider has told of each payment.

CREATE TABLE top_ups (
    id UUID NOT NULL,
    account_id UUID NOT NULL,
    provider TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'open',
    amount_micros BIGINT NOT NULL,
    -- What the provider was asked to collect, in the smallest unit of the currency.
    price_minor BIGINT NOT NULL,
    currency TEXT NOT NULL,
    -- The provider's own names: of the checkout, and of the payment, which refunds and disputes name.
    checkout_ref TEXT,
    checkout_url TEXT,
    payment_ref TEXT,
    transaction_id UUID,
    -- What refunds and disputes call for and the account did not have at the time.
    owed_micros BIGINT NOT NULL DEFAULT 0,
    created_at TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
    paid_at TIMESTAMPTZ(3),

    CONSTRAINT top_ups_pkey PRIMARY KEY (id),
    CONSTRAINT top_ups_provider_check CHECK (provider IN ('stripe')),
    CONSTRAINT top_ups_status_check CHECK (status IN ('open', 'paid', 'failed', 'expired', 'refused')),
    CONSTRAINT top_ups_amounts_check CHECK (amount_micros > 0 AND price_minor > 0 AND owed_micros BETWEEN 0 AND amount_micros),
    CONSTRAINT top_ups_currency_check CHECK (currency ~ '^[a-z]{3}$'),
    CONSTRAINT top_ups_paid_check CHECK ((status = 'paid') = (transaction_id IS NOT NULL) AND (status = 'paid') = (paid_at IS NOT NULL))
);
CREATE INDEX top_ups_account_id_created_at_idx ON top_ups (account_id, created_at);
CREATE UNIQUE INDEX top_ups_transaction_id_key ON top_ups (transaction_id);
CREATE UNIQUE INDEX top_ups_payment_key ON top_ups (provider, payment_ref);
CREATE INDEX top_ups_owed_idx ON top_ups (id) WHERE owed_micros > 0;
ALTER TABLE top_ups
    ADD CONSTRAINT top_ups_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE RESTRICT ON UPDATE RESTRICT,
    ADD CONSTRAINT top_ups_transaction_id_fkey FOREIGN KEY (transaction_id) REFERENCES ledger_transactions(id) ON DELETE RESTRICT ON UPDATE RESTRICT;

-- Every event that was acted on: one that comes again is known.
CREATE TABLE payment_events (
    provider TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    top_up_id UUID,
    received_at TIMESTAMPTZ(3) NOT NULL DEFAULT now(),

    CONSTRAINT payment_events_pkey PRIMARY KEY (provider, id)
);

-- Refunds and disputes by payment, whether or not the payment is known yet: events come in any order.
CREATE TABLE payment_reversals (
    provider TEXT NOT NULL,
    id TEXT NOT NULL,
    payment_ref TEXT NOT NULL,
    amount_minor BIGINT NOT NULL,
    currency TEXT NOT NULL,
    -- A refund that failed, a dispute that was won. It stays so, whatever older event comes later.
    undone BOOLEAN NOT NULL,

    CONSTRAINT payment_reversals_pkey PRIMARY KEY (provider, id),
    CONSTRAINT payment_reversals_amount_check CHECK (amount_minor >= 0)
);
CREATE INDEX payment_reversals_payment_idx ON payment_reversals (provider, payment_ref);
