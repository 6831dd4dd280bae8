-- Holds for the rows that were there before, without a lock that others wait for.
ALTER TABLE api_keys VALIDATE CONSTRAINT api_keys_member_id_fkey;
