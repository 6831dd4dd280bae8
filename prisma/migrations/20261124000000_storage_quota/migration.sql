-- Bytes that an account may store; null: as the service is set.
ALTER TABLE accounts ADD COLUMN storage_bytes bigint CONSTRAINT accounts_storage_bytes_check CHECK (storage_bytes > 0);

-- Bytes of an account's blobs. Its row is the lock under which room for more is decided.
CREATE TABLE account_storage (
    account_id UUID PRIMARY KEY REFERENCES accounts (id) ON UPDATE RESTRICT ON DELETE RESTRICT,
    stored_bytes bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 70);

-- Room for bytes that are on their way in: uploads being received, and resumable uploads under the same id.
CREATE TABLE storage_reservations (
    id UUID PRIMARY KEY,
    account_id UUID NOT NULL REFERENCES accounts (id) ON UPDATE RESTRICT ON DELETE RESTRICT,
    size_bytes bigint NOT NULL CONSTRAINT storage_reservations_size_check CHECK (size_bytes >= 0),
    expires_at timestamptz(3) NOT NULL
);
CREATE INDEX storage_reservations_account_id_idx ON storage_reservations (account_id);
CREATE INDEX storage_reservations_expires_at_idx ON storage_reservations (expires_at);

INSERT INTO storage_reservations (id, account_id, size_bytes, expires_at)
SELECT id, account_id, size_bytes, expires_at + interval '4 hours' FROM resumable_uploads WHERE asset_id IS NULL;

-- A trigger, so that no writer can forget to count, processes of the version before included.
CREATE FUNCTION count_stored_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO account_storage AS s (account_id, stored_bytes)
    VALUES (coalesce(NEW.account_id, OLD.account_id), coalesce(NEW.size_bytes, 0) - coalesce(OLD.size_bytes, 0))
    ON CONFLICT (account_id) DO UPDATE SET stored_bytes = s.stored_bytes + excluded.stored_bytes;
    RETURN NULL;
END
$$;
CREATE TRIGGER blobs_count_trigger AFTER INSERT OR DELETE ON blobs FOR EACH ROW EXECUTE FUNCTION count_stored_bytes();

-- Count an account's blobs again, under its row: a blob that is just being recorded waits, and is added to the new count.
-- Returns by how many bytes the count was too large.
CREATE FUNCTION recount_stored_bytes(account UUID) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    counted bigint;
    stored bigint;
BEGIN
    INSERT INTO account_storage (account_id) VALUES (account) ON CONFLICT DO NOTHING;
    SELECT stored_bytes INTO counted FROM account_storage WHERE account_id = account FOR UPDATE;
    SELECT coalesce(sum(size_bytes), 0) INTO stored FROM blobs WHERE account_id = account;
    UPDATE account_storage SET stored_bytes = stored WHERE account_id = account AND stored_bytes <> stored;
    RETURN counted - stored;
END
$$;
