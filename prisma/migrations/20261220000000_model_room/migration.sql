-- How many bytes of models the disk of a worker's host can have for it. Null: it keeps no models of the library, or does not say.
ALTER TABLE workers ADD COLUMN model_cache_bytes bigint;

-- Bytes of the models that an account means by names: in each folder its own before the shared one, each content once.
CREATE FUNCTION model_bytes(account uuid, names text[]) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT coalesce(sum(content.size_bytes), 0) FROM (
            SELECT DISTINCT ON (meant.digest) meant.size_bytes FROM (
                SELECT DISTINCT ON (m.folder, m.name) m.digest, m.size_bytes FROM models m
                WHERE m.name = ANY(names) AND m.state = 'ready' AND (m.account_id = account OR m.shared)
                ORDER BY m.folder, m.name, m.account_id <> account
            ) meant
        ) content
    );
END
$$;
