-- Networks from which the keys of an account may be used; empty: from anywhere.
ALTER TABLE accounts ADD COLUMN allowed_addresses TEXT[] NOT NULL DEFAULT '{}';
-- The age at which its keys end; null: at none.
ALTER TABLE accounts ADD COLUMN key_max_age_seconds INTEGER;

-- Networks from which the key may be used, beside what its account says; empty: from anywhere.
ALTER TABLE api_keys ADD COLUMN allowed_addresses TEXT[] NOT NULL DEFAULT '{}';
-- Whether expires_at follows from the maximum age. Then asked_expires_at is when the key would end without it.
ALTER TABLE api_keys ADD COLUMN expires_by_age BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE api_keys ADD COLUMN asked_expires_at TIMESTAMPTZ(3);
