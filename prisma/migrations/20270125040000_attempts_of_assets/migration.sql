-- The attempt that made an output: it is known of what a later attempt has replaced as well. Null of uploads, of outputs that were reused, and of
-- what was recorded before.
ALTER TABLE assets ADD COLUMN attempt SMALLINT;
