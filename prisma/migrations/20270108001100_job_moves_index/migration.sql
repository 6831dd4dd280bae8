-- The starts and ends of jobs in the order of time, for the metrics of the objectives.
CREATE INDEX CONCURRENTLY job_transitions_moves_idx ON job_transitions (at, job_id, seq) WHERE to_status NOT IN ('queued', 'canceling');
