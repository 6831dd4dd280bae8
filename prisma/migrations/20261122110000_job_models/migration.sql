-- The files of weights that a job's graph loads, so that a worker that holds them can be preferred; null where there are none.
ALTER TABLE jobs ADD COLUMN models text[];
