-- The rules of postings in one function, as those of jobs (20270102000000_job_rules).
CREATE FUNCTION keeps_rules(posting ledger_transactions) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    broken CONSTANT text := CASE
        WHEN NOT (posting.kind IN ('grant', 'top_up', 'hold', 'extend_hold', 'settle', 'release', 'expire', 'correction'))
            THEN 'ledger_transactions_kind_check'
        WHEN NOT ((posting.kind IN ('hold', 'extend_hold', 'settle', 'release')) = (posting.job_id IS NOT NULL)
                OR posting.kind = 'correction')
            THEN 'ledger_transactions_job_check'
        WHEN NOT ((posting.kind IN ('correction', 'expire')) = (posting.corrects IS NOT NULL))
            THEN 'ledger_transactions_corrects_check'
        WHEN NOT (posting.expires_at IS NULL OR posting.kind = 'grant')
            THEN 'ledger_transactions_expires_check'
    END;
BEGIN
    IF broken IS NOT NULL THEN
        PERFORM refuse_row('ledger_transactions', broken);
    END IF;
    RETURN true;
END
$$;

ALTER TABLE ledger_transactions ADD CONSTRAINT ledger_transactions_rules_check CHECK (keeps_rules(ledger_transactions)) NOT VALID;
ALTER TABLE ledger_transactions
    DROP CONSTRAINT ledger_transactions_kind_check,
    DROP CONSTRAINT ledger_transactions_job_check,
    DROP CONSTRAINT ledger_transactions_corrects_check,
    DROP CONSTRAINT ledger_transactions_expires_check;
