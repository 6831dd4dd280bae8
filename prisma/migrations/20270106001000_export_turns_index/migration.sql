-- Which accounts wait for a delivery, and the one of each that is due the longest.
CREATE INDEX CONCURRENTLY export_deliveries_turn_idx ON export_deliveries (account_id, due_at, id) WHERE state = 'pending';
