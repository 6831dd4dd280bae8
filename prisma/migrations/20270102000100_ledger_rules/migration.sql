-- The rules of the ledger in one function for each table, as those of jobs (20270102000000_job_rules).
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

-- Whichever statement changes a balance decides here, under the lock of its row, so that each crossing is noted once. A hold moves credits and
-- spends none: submissions change nothing here.
CREATE OR REPLACE FUNCTION note_low_credits() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    had CONSTANT bigint := OLD.available_micros + OLD.held_micros;
    has CONSTANT bigint := NEW.available_micros + NEW.held_micros;
BEGIN
    IF NEW.alerted_at IS NULL AND has < NEW.alert_below_micros AND has < had THEN
        NEW.alerted_at := now();
    ELSIF NEW.alerted_at IS NOT NULL AND has >= NEW.alert_below_micros
            AND (has > had OR NEW.alert_below_micros <> OLD.alert_below_micros) THEN
        NEW.alerted_at := NULL;
    END IF;
    RETURN NEW;
END
$$;
CREATE OR REPLACE TRIGGER balances_low_trigger BEFORE UPDATE ON balances FOR EACH ROW EXECUTE FUNCTION note_low_credits();
