-- The names of models that are on the disk of a worker's host, beside those that its engines hold in memory.
ALTER TABLE workers ADD COLUMN disk_models text[] NOT NULL DEFAULT '{}';
