-- The model library: a name in a folder of the engine, for the bytes of an asset. The bytes are the account's: they are stored once,
-- count as its storage, and nobody learns of them by their hash.
CREATE TABLE models (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    folder text NOT NULL,
    name text NOT NULL,
    -- Every account may use it.
    shared boolean NOT NULL DEFAULT false,
    state text NOT NULL,
    -- Why it failed.
    problem text,
    format text NOT NULL,
    -- What the header of the file says; null until it was read, or where it says nothing.
    kind text,
    architecture text,
    parameters bigint,
    -- Null until an import has asked.
    size_bytes bigint,
    received_bytes bigint NOT NULL DEFAULT 0,
    -- blake3 of the content, 64 hexadecimal digits.
    digest text,
    -- What the content was announced to have, with its algorithm.
    expected_hash text,
    licence text,
    source_url text,
    -- Where its bytes arrive, in parts.
    upload_id uuid,
    -- Its bytes. An asset that a model refers to stays.
    asset_id uuid,
    -- What is imported: attempts so far, the number of the last is the fence of what it writes.
    import_attempt integer NOT NULL DEFAULT 0,
    -- Failures since the last part that arrived.
    import_failures integer NOT NULL DEFAULT 0,
    -- When the next attempt may begin. While one is under way: when its lease ends.
    import_due_at timestamptz(3),
    -- The version of the source that is imported.
    import_etag text,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    last_used_at timestamptz(3),
    CONSTRAINT models_pkey PRIMARY KEY (id),
    CONSTRAINT models_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (id) ON DELETE RESTRICT ON UPDATE RESTRICT,
    CONSTRAINT models_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets (id) ON DELETE RESTRICT ON UPDATE RESTRICT,
    CONSTRAINT models_state_check CHECK (state IN ('uploading', 'importing', 'ready', 'failed')),
    CONSTRAINT models_ready_check CHECK (state <> 'ready' OR (asset_id IS NOT NULL AND digest IS NOT NULL AND size_bytes IS NOT NULL)),
    CONSTRAINT models_problem_check CHECK ((state = 'failed') = (problem IS NOT NULL)),
    CONSTRAINT models_shared_check CHECK (NOT shared OR state = 'ready'),
    CONSTRAINT models_import_check CHECK ((state = 'importing') = (import_due_at IS NOT NULL))
);
-- An account has one model of a name, and so has the operator.
CREATE UNIQUE INDEX models_name_key ON models (account_id, folder, name);
CREATE UNIQUE INDEX models_shared_name_key ON models (folder, name) WHERE shared;
-- What keeps an asset, and what a worker asks for.
CREATE INDEX models_asset_id_idx ON models (asset_id) WHERE asset_id IS NOT NULL;
CREATE INDEX models_use_idx ON models (name) WHERE state = 'ready';
CREATE INDEX models_digest_idx ON models (digest) WHERE state = 'ready';
CREATE INDEX models_list_idx ON models (account_id, id);
CREATE INDEX models_under_way_idx ON models (state, import_due_at) WHERE state IN ('uploading', 'importing');
