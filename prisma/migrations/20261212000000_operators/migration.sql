-- Operators with names and roles: tokens for machines, sessions of people, and why each act was done.
CREATE TABLE operator_tokens (
    id uuid NOT NULL,
    name text NOT NULL,
    role text NOT NULL,
    secret_hash bytea NOT NULL,
    created_by text NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    expires_at timestamptz(3) NOT NULL,
    last_used_at timestamptz(3),
    revoked_at timestamptz(3),
    CONSTRAINT operator_tokens_pkey PRIMARY KEY (id),
    CONSTRAINT operator_tokens_role_check CHECK (role IN ('viewer', 'operator', 'finance', 'admin'))
);
CREATE UNIQUE INDEX operator_tokens_name_key ON operator_tokens (name);
CREATE UNIQUE INDEX operator_tokens_secret_hash_key ON operator_tokens (secret_hash);

-- Who is signed in; all null: who proved the one shared admin token. With a token the session ends when the token does.
ALTER TABLE operator_sessions
    ADD COLUMN actor text,
    ADD COLUMN role text,
    ADD COLUMN token_id uuid,
    ADD CONSTRAINT operator_sessions_role_check CHECK (role IN ('viewer', 'operator', 'finance', 'admin')),
    ADD CONSTRAINT operator_sessions_named_check CHECK ((actor IS NULL) = (role IS NULL)),
    ADD CONSTRAINT operator_sessions_token_id_fkey FOREIGN KEY (token_id) REFERENCES operator_tokens (id)
        ON UPDATE RESTRICT ON DELETE RESTRICT;

ALTER TABLE audit_log ADD COLUMN reason text;
