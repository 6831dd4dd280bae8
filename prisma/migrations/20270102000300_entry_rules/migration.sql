-- The rules of entries in one function, as those of jobs (20270102000000_job_rules).
CREATE FUNCTION keeps_rules(entry ledger_entries) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    broken CONSTANT text := CASE
        WHEN NOT (entry.from_book <> entry.to_book
                AND entry.from_book IN ('available', 'held', 'revenue', 'promotions', 'payments')
                AND entry.to_book IN ('available', 'held', 'revenue', 'promotions', 'payments'))
            THEN 'ledger_entries_books_check'
        WHEN NOT (entry.amount_micros > 0)
            THEN 'ledger_entries_amount_check'
    END;
BEGIN
    IF broken IS NOT NULL THEN
        PERFORM refuse_row('ledger_entries', broken);
    END IF;
    RETURN true;
END
$$;

ALTER TABLE ledger_entries ADD CONSTRAINT ledger_entries_rules_check CHECK (keeps_rules(ledger_entries)) NOT VALID;
ALTER TABLE ledger_entries
    DROP CONSTRAINT ledger_entries_books_check,
    DROP CONSTRAINT ledger_entries_amount_check;
