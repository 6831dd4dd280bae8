-- Tokens with which workers outside the cluster join a pool. Of each only the hash is kept; a revoked one stays, for the record.
CREATE TABLE worker_tokens (
  id uuid PRIMARY KEY,
  pool_id text NOT NULL REFERENCES pools (id) ON DELETE RESTRICT ON UPDATE RESTRICT,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
  hash bytea NOT NULL CHECK (octet_length(hash) = 32),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  last_used_at timestamptz(3),
  expires_at timestamptz(3),
  revoked_at timestamptz(3)
);
CREATE UNIQUE INDEX worker_tokens_hash_key ON worker_tokens (hash);
CREATE INDEX worker_tokens_pool_id_idx ON worker_tokens (pool_id);

-- The token that a worker joined with; null for one that reaches PostgreSQL itself.
ALTER TABLE workers ADD COLUMN token_id uuid;
