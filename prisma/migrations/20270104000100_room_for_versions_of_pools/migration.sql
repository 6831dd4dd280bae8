-- The row of a pool changes with its turns, and every submission reads it. While a transaction stays open all of its versions stay: in few pages where
-- other pools leave them room.
ALTER TABLE pools SET (fillfactor = 10);
