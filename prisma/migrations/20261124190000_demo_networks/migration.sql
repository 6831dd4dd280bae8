-- Each network that calls a demo deployment has an account of its own.
ALTER TABLE accounts DROP CONSTRAINT accounts_kind_check;
ALTER TABLE accounts ADD CONSTRAINT accounts_kind_check CHECK (kind IN ('customer', 'demo', 'demo_network', 'self_hosted'));
CREATE INDEX accounts_demo_networks_idx ON accounts (id) WHERE kind = 'demo_network';

-- What callers of demos uploaded to the account that they shared was kept until they deleted it. None of them can reach it now.
UPDATE assets SET expires_at = now() + interval '1 day'
WHERE account_id IN (SELECT id FROM accounts WHERE kind = 'demo') AND job_id IS NULL
  AND (expires_at IS NULL OR expires_at > now() + interval '1 day');
