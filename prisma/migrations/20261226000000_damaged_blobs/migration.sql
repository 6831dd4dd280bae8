-- What is known of a blob whose bytes are not what its record says. lost_at: none of its size were found under its key. damaged_at: they
-- have another hash. Null: nothing is wrong with them, as far as anyone has looked.
ALTER TABLE blobs ADD COLUMN lost_at timestamptz(3);
ALTER TABLE blobs ADD COLUMN damaged_at timestamptz(3);
