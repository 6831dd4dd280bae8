-- How long the jobs of a label are kept, outputs and all, where that is shorter than the service keeps them.
ALTER TABLE label_rules ADD COLUMN retention_seconds integer;
