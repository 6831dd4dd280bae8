-- What the rescue of lost jobs looks for, twice a second, however many jobs wait.
CREATE INDEX jobs_lease_idx ON jobs (lease_expires_at) WHERE delivery = 'leased';
CREATE INDEX jobs_canceling_idx ON jobs (id) WHERE status = 'canceling' AND delivery IN ('waiting', 'dispatched');
