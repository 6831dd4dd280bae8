-- Who is signed in to the console: a browser that proved an API key, or that it may use a self-hosted surface.
CREATE TABLE console_sessions (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    api_key_id uuid,
    secret_hash bytea NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    expires_at timestamptz(3) NOT NULL,
    CONSTRAINT console_sessions_pkey PRIMARY KEY (id),
    CONSTRAINT console_sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (id) ON DELETE RESTRICT ON UPDATE RESTRICT,
    CONSTRAINT console_sessions_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys (id) ON DELETE RESTRICT ON UPDATE RESTRICT
);
CREATE UNIQUE INDEX console_sessions_secret_hash_key ON console_sessions (secret_hash);
CREATE INDEX console_sessions_account_id_idx ON console_sessions (account_id, id);
CREATE INDEX console_sessions_expires_at_idx ON console_sessions (expires_at);

-- Links that sign a browser in once. A link that was used has no row any more.
CREATE TABLE sign_in_links (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    api_key_id uuid,
    token_hash bytea NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    expires_at timestamptz(3) NOT NULL,
    CONSTRAINT sign_in_links_pkey PRIMARY KEY (id),
    CONSTRAINT sign_in_links_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (id) ON DELETE RESTRICT ON UPDATE RESTRICT,
    CONSTRAINT sign_in_links_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys (id) ON DELETE RESTRICT ON UPDATE RESTRICT
);
CREATE UNIQUE INDEX sign_in_links_token_hash_key ON sign_in_links (token_hash);
CREATE INDEX sign_in_links_expires_at_idx ON sign_in_links (expires_at);
