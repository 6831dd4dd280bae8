-- The graph that each worker of a deployment runs before it is ready, in API format. Null: none.
ALTER TABLE deployments ADD COLUMN warm_up text;

-- What the start of a worker took, in milliseconds, by phase. Null: not measured, or there was no such phase.
ALTER TABLE workers
    ADD COLUMN schedule_ms integer,
    ADD COLUMN pull_ms integer,
    ADD COLUMN boot_ms integer,
    ADD COLUMN models_ms integer,
    ADD COLUMN warm_up_ms integer;
