-- Uploads that arrive in parts, sent by clients straight to the store and put together at the end.

CREATE TABLE resumable_uploads (
    id UUID NOT NULL,
    account_id UUID NOT NULL,
    handle TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    part_bytes INTEGER NOT NULL,
    fields JSONB NOT NULL,
    -- Whoever completes it holds it until then; a process that died lets go of it by the passing of time.
    held_until TIMESTAMPTZ(3),
    -- Set once: the asset that came of it, told again to whoever completes it again.
    asset_id UUID,
    created_at TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
    expires_at TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT resumable_uploads_pkey PRIMARY KEY (id),
    CONSTRAINT resumable_uploads_sizes CHECK (size_bytes > 0 AND part_bytes > 0)
);
CREATE INDEX resumable_uploads_account_id_idx ON resumable_uploads (account_id);
CREATE INDEX resumable_uploads_expires_at_idx ON resumable_uploads (expires_at);
ALTER TABLE resumable_uploads ADD CONSTRAINT resumable_uploads_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE RESTRICT ON UPDATE RESTRICT;
