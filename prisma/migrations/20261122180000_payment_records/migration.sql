-- What was ordered, what a payment provider told, and what went back, are kept for good, as the ledger is.

CREATE INDEX payment_events_top_up_idx ON payment_events (top_up_id);
CREATE TRIGGER payment_events_append_trigger BEFORE UPDATE OR DELETE ON payment_events FOR EACH ROW
    EXECUTE FUNCTION refuse_change('what was told of payments is only appended to');
CREATE TRIGGER payment_reversals_keep_trigger BEFORE DELETE ON payment_reversals FOR EACH ROW
    EXECUTE FUNCTION refuse_change('what was told of payments is kept');
CREATE TRIGGER top_ups_keep_trigger BEFORE DELETE ON top_ups FOR EACH ROW
    EXECUTE FUNCTION refuse_change('orders are kept');
