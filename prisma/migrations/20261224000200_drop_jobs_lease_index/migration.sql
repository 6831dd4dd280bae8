-- A running job renews its lease every few seconds. Where an index has when it runs out, each renewal writes all indexes of the job; without
-- it that is a heap-only update. Leases that have run out are found by a walk over the jobs in flight (jobs_in_flight_idx).
DROP INDEX CONCURRENTLY jobs_lease_idx;
