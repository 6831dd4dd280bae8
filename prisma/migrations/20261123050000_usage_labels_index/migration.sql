-- Records whose labels are still there, by age: the loop that forgets old labels finds them without reading all others.
CREATE INDEX CONCURRENTLY usage_records_labels_idx ON usage_records (finished_at) WHERE labels <> '{}'::jsonb;
