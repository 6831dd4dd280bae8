-- How often the upload of an import has expired: one whose source is too slow for the time that an upload is open for began again without end.
-- A process of an earlier version leaves it at 0.
ALTER TABLE models ADD COLUMN import_restarts integer DEFAULT 0 NOT NULL;
