-- Where jobs are to be canceled because a cap is used up: what a chore asks every second.
CREATE INDEX CONCURRENTLY label_use_stopped_idx ON label_use (account_id)
    WHERE day_stopped_on IS NOT NULL OR month_stopped_on IS NOT NULL;
