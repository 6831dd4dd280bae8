-- Holds for the rows that were there before, without a lock that others wait for.
ALTER TABLE jobs VALIDATE CONSTRAINT jobs_rules_check;
ALTER TABLE job_transitions VALIDATE CONSTRAINT job_transitions_rules_check;
ALTER TABLE ledger_transactions VALIDATE CONSTRAINT ledger_transactions_rules_check;
ALTER TABLE ledger_entries VALIDATE CONSTRAINT ledger_entries_rules_check;
