-- These rows change with every job of their account. While a transaction stays open all of their versions stay, and what looks for a row tries each:
-- in few pages where nine tenths of a page are left to new versions of its rows, and in as many pages as versions where other rows fill it.
ALTER TABLE account_queues SET (fillfactor = 10);
ALTER TABLE account_storage SET (fillfactor = 10);
ALTER TABLE balances SET (fillfactor = 10);
