-- An account's places in all queues: read for its own overview, and changed when its limits change. No column of the index
-- ever changes, so that the queues' counters are still updated in place.
CREATE INDEX account_queues_account_id_idx ON account_queues (account_id);
-- The audit log is read newest first, as a whole or by what it tells of.
CREATE INDEX audit_log_subject_id_id_idx ON audit_log (subject_id, id);
