-- What an account allows the jobs that carry a label, such as user=ada. Without a value: any value that has no rule of its own, each by itself.
CREATE TABLE label_rules (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    label text NOT NULL,
    value text,
    -- Jobs that have not ended.
    max_jobs integer,
    -- What jobs may cost in a day and in a month, UTC.
    daily_micros bigint,
    monthly_micros bigint,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now(),
    CONSTRAINT label_rules_pkey PRIMARY KEY (id),
    CONSTRAINT label_rules_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (id) ON DELETE CASCADE ON UPDATE RESTRICT,
    CONSTRAINT label_rules_limits_check CHECK (max_jobs >= 0 AND daily_micros >= 0 AND monthly_micros >= 0)
);
-- What each submission with labels asks: whether there is a rule for them.
CREATE UNIQUE INDEX label_rules_key ON label_rules (account_id, label, value) NULLS NOT DISTINCT;

-- What the jobs of a label that has a rule use of it.
CREATE TABLE label_use (
    account_id uuid NOT NULL,
    label text NOT NULL,
    value text NOT NULL,
    live integer NOT NULL DEFAULT 0,
    held_micros bigint NOT NULL DEFAULT 0,
    -- What was charged in the day and in the month of the last charge.
    day date,
    day_micros bigint NOT NULL DEFAULT 0,
    month_micros bigint NOT NULL DEFAULT 0,
    CONSTRAINT label_use_pkey PRIMARY KEY (account_id, label, value),
    CONSTRAINT label_use_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (id) ON DELETE RESTRICT ON UPDATE RESTRICT,
    CONSTRAINT label_use_counts_check CHECK (live >= 0 AND held_micros >= 0 AND day_micros >= 0 AND month_micros >= 0)
) WITH (fillfactor = 70);

-- The labels of a job that it is counted by; null where none had a rule when it was submitted.
ALTER TABLE jobs ADD COLUMN limited_labels text[];
