-- What is due is found by the account that waits (export_deliveries_turn_idx).
DROP INDEX CONCURRENTLY export_deliveries_due_idx;
