-- The people of an account.
CREATE TABLE members (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    email text NOT NULL,
    role text NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    removed_at timestamptz(3),
    CONSTRAINT members_pkey PRIMARY KEY (id),
    CONSTRAINT members_role_check CHECK (role IN ('owner', 'developer', 'finance', 'viewer')),
    CONSTRAINT members_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (id) ON UPDATE RESTRICT ON DELETE RESTRICT
);
CREATE INDEX members_account_id_idx ON members (account_id, id);
-- One person is a member of an account once; also finds whom an address signs in.
CREATE UNIQUE INDEX members_email_key ON members (email, account_id) WHERE removed_at IS NULL;
-- Who was removed and still has an address, which goes after a time.
CREATE INDEX members_removed_at_idx ON members (removed_at) WHERE removed_at IS NOT NULL AND email LIKE '%@%';

-- One that was accepted or taken back is deleted.
CREATE TABLE invitations (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    email text NOT NULL,
    role text NOT NULL,
    token_hash bytea NOT NULL,
    invited_by text NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    expires_at timestamptz(3) NOT NULL,
    CONSTRAINT invitations_pkey PRIMARY KEY (id),
    CONSTRAINT invitations_role_check CHECK (role IN ('owner', 'developer', 'finance', 'viewer')),
    CONSTRAINT invitations_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (id) ON UPDATE RESTRICT ON DELETE RESTRICT
);
CREATE UNIQUE INDEX invitations_account_id_email_key ON invitations (account_id, email);
CREATE UNIQUE INDEX invitations_token_hash_key ON invitations (token_hash);
CREATE INDEX invitations_expires_at_idx ON invitations (expires_at);

-- Mails that invited somebody, for a day: how many an account has sent, and when one to the same address. The address is a pseudonym.
CREATE TABLE invitation_mails (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    address_hash bytea NOT NULL,
    sent_at timestamptz(3) NOT NULL DEFAULT now(),
    CONSTRAINT invitation_mails_pkey PRIMARY KEY (id),
    CONSTRAINT invitation_mails_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (id) ON UPDATE RESTRICT ON DELETE RESTRICT
);
CREATE INDEX invitation_mails_account_id_sent_at_idx ON invitation_mails (account_id, sent_at);
CREATE INDEX invitation_mails_sent_at_idx ON invitation_mails (sent_at);

-- Who asked for links by mail. Recording it is all that the api does, so that the time of its answer says nothing of who is a member. The
-- address is sealed, the network a pseudonym; a maintenance process finds out whose address it is, and deletes the request.
CREATE TABLE sign_in_requests (
    id uuid NOT NULL,
    sealed bytea NOT NULL,
    browser_hash bytea NOT NULL,
    network_hash bytea NOT NULL,
    requested_at timestamptz(3) NOT NULL DEFAULT now(),
    expires_at timestamptz(3) NOT NULL,
    CONSTRAINT sign_in_requests_pkey PRIMARY KEY (id)
);
CREATE INDEX sign_in_requests_expires_at_idx ON sign_in_requests (expires_at);

-- Mails that are to be sent. What they say, and to whom, is sealed; one that was sent, or came too late, is deleted.
CREATE TABLE mail_messages (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    sealed bytea NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    due_at timestamptz(3) NOT NULL DEFAULT now(),
    expires_at timestamptz(3) NOT NULL,
    CONSTRAINT mail_messages_pkey PRIMARY KEY (id),
    CONSTRAINT mail_messages_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (id) ON UPDATE RESTRICT ON DELETE RESTRICT
);
CREATE INDEX mail_messages_account_id_idx ON mail_messages (account_id);
CREATE INDEX mail_messages_due_at_idx ON mail_messages (due_at);
CREATE INDEX mail_messages_expires_at_idx ON mail_messages (expires_at);

-- Whose key it is; null for a key of the account itself.
ALTER TABLE api_keys ADD COLUMN member_id uuid;
-- As which the sessions of its member act: nobody sees it, and its scopes are those of the member's role. None is stored, so that
-- processes of the version before let it do nothing.
ALTER TABLE api_keys ADD COLUMN is_session_key boolean NOT NULL DEFAULT false;
ALTER TABLE api_keys ADD CONSTRAINT api_keys_member_id_fkey FOREIGN KEY (member_id) REFERENCES members (id)
    ON UPDATE RESTRICT ON DELETE RESTRICT NOT VALID;
-- A key that a member's key makes, or that replaces one, is the member's: it does no more than their role and ends with them. Also where a
-- process of the version before makes it, which knows of no members.
CREATE FUNCTION inherit_member() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT p.member_id INTO NEW.member_id FROM api_keys p WHERE p.id = NEW.parent_id;
    RETURN NEW;
END
$$;
CREATE TRIGGER api_keys_inherit_member_trigger BEFORE INSERT ON api_keys FOR EACH ROW
    WHEN (NEW.member_id IS NULL AND NEW.parent_id IS NOT NULL) EXECUTE FUNCTION inherit_member();
CREATE FUNCTION bequeath_member() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE api_keys SET member_id = NEW.member_id WHERE id = NEW.rotated_to AND member_id IS NULL;
    RETURN NULL;
END
$$;
CREATE TRIGGER api_keys_bequeath_member_trigger AFTER UPDATE OF rotated_to ON api_keys FOR EACH ROW
    WHEN (NEW.member_id IS NOT NULL AND NEW.rotated_to IS NOT NULL) EXECUTE FUNCTION bequeath_member();
-- The browser that asked for a link, where only that one may use it, and a pseudonym of its network.
ALTER TABLE sign_in_links ADD COLUMN browser_hash bytea, ADD COLUMN network_hash bytea;
