-- What deployments run on: the operator's catalogue, as the fleet process read it. A class that is gone from the operator's
-- document is retired, never deleted: deployments name it.
CREATE TABLE engine_classes (
    name text NOT NULL,
    spec jsonb NOT NULL,
    revision text NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now(),
    retired_at timestamptz(3),
    CONSTRAINT engine_classes_pkey PRIMARY KEY (name)
);

-- What the fleet does for each pool, and why it is not further.
CREATE TABLE fleet_groups (
    pool_id text NOT NULL,
    wanted integer NOT NULL,
    running integer NOT NULL,
    phase text NOT NULL,
    reason text,
    failures integer NOT NULL DEFAULT 0,
    failure text,
    next_try_at timestamptz(3),
    surplus_since timestamptz(3),
    updated_at timestamptz(3) NOT NULL DEFAULT now(),
    CONSTRAINT fleet_groups_pkey PRIMARY KEY (pool_id),
    CONSTRAINT fleet_groups_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES pools (id) ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT fleet_groups_phase_check CHECK (phase IN ('idle', 'starting', 'running', 'stopping', 'failed')),
    CONSTRAINT fleet_groups_counts_check CHECK (wanted >= 0 AND running >= 0 AND failures >= 0)
);

-- Whose turn it is to lead a fleet. The fence grows with each new holder.
CREATE TABLE fleet_leases (
    name text NOT NULL,
    holder uuid NOT NULL,
    fence bigint NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    CONSTRAINT fleet_leases_pkey PRIMARY KEY (name)
);

-- The engine class is a name without a foreign key: an operator may run workers by hand, without any catalogue of classes.
ALTER TABLE deployments ADD COLUMN engine_class text;
ALTER TABLE deployments ADD COLUMN idle_seconds integer NOT NULL DEFAULT 300;
ALTER TABLE deployments ADD COLUMN deleting_at timestamptz(3);
ALTER TABLE deployments ADD COLUMN deleted_at timestamptz(3);

-- When an operator or the fleet asked a worker to drain: a heartbeat after that has told the worker.
ALTER TABLE workers ADD COLUMN draining_at timestamptz(3);

ALTER TABLE accounts ADD COLUMN deployment_limit integer;
ALTER TABLE accounts ADD COLUMN deployment_worker_limit integer;
