-- What the parts of an account that the audit has read have of the day in which the last of them ends. A process of an earlier version writes the
-- checkpoint without it.
ALTER TABLE ledger_audit_progress ADD COLUMN day_sums jsonb;
