-- The open links of a membership, which are counted, and go with it.
CREATE INDEX CONCURRENTLY sign_in_links_account_id_api_key_id_idx ON sign_in_links (account_id, api_key_id);
