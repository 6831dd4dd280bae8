-- Count what accounts store already, each in a transaction of its own: its uploads wait for the count of its own blobs alone.
DO $$
DECLARE
    account UUID;
BEGIN
    FOR account IN SELECT id FROM accounts WHERE EXISTS (SELECT 1 FROM blobs WHERE account_id = accounts.id) LOOP
        PERFORM recount_stored_bytes(account);
        COMMIT;
    END LOOP;
END
$$;
