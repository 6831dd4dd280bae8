-- Who made a key: a key that was made by another ends with it. Null for keys made by operators, and for all made before.
ALTER TABLE api_keys ADD COLUMN parent_id UUID;
ALTER TABLE api_keys ADD CONSTRAINT api_keys_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES api_keys (id) ON UPDATE RESTRICT ON DELETE RESTRICT;
CREATE INDEX api_keys_parent_id_idx ON api_keys (parent_id) WHERE parent_id IS NOT NULL;
