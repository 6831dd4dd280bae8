-- Versions of a deployment beside the one that its own row describes: another one that takes jobs at the same time, and those that have ended.
CREATE TABLE deployment_versions (
    deployment_id uuid NOT NULL,
    number integer NOT NULL,
    pool_id text NOT NULL,
    engine_class text,
    price_micros_per_second bigint,
    warm_up text,
    min_workers integer NOT NULL,
    max_workers integer NOT NULL,
    idle_seconds integer NOT NULL,
    -- Of the jobs that both versions take, in percent; the deployment's own version takes the rest.
    weight integer NOT NULL,
    first_ready_at timestamptz(3),
    wanted_at timestamptz(3),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    ended_at timestamptz(3),
    CONSTRAINT deployment_versions_pkey PRIMARY KEY (deployment_id, number),
    CONSTRAINT deployment_versions_deployment_id_fkey FOREIGN KEY (deployment_id) REFERENCES deployments(id) ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT deployment_versions_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES pools(id) ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT deployment_versions_weight_check CHECK (weight >= 0 AND weight <= 100)
);
CREATE UNIQUE INDEX deployment_versions_pool_id_key ON deployment_versions (pool_id);
-- Two versions take jobs at most: the deployment's own, and one beside it.
CREATE UNIQUE INDEX deployment_versions_live_key ON deployment_versions (deployment_id) WHERE ended_at IS NULL;

-- Which version of its deployment a job ran on. Null: of a job that ended before there were versions, which was the first.
ALTER TABLE usage_records ADD COLUMN deployment_version integer;
