-- The audit log as a chain: entries are sealed in segments, and each segment's hash covers the one before it.
--
-- What an erasure strikes out of an entry (its details, the reason, the address of who is no operator) enters its digest by a digest
-- of its own, under a random salt. So an entry that was struck out, and lost its salt, is still the entry that was sealed.

CREATE TABLE audit_segments (
    no bigint NOT NULL,
    -- Zeros: it is the first.
    previous_hash bytea NOT NULL,
    hash bytea NOT NULL,
    entries integer NOT NULL,
    first_id uuid NOT NULL,
    last_id uuid NOT NULL,
    -- The earliest and the latest time of its entries.
    first_at timestamptz(3) NOT NULL,
    last_at timestamptz(3) NOT NULL,
    sealed_at timestamptz(3) NOT NULL,
    -- When its object was in the bucket, and the name of that.
    exported_at timestamptz(3),
    object_key text,
    CONSTRAINT audit_segments_pkey PRIMARY KEY (no),
    CONSTRAINT audit_segments_no_check CHECK (no > 0),
    CONSTRAINT audit_segments_hash_check CHECK (length(hash) = 32 AND length(previous_hash) = 32),
    CONSTRAINT audit_segments_entries_check CHECK (entries BETWEEN 1 AND 10000),
    CONSTRAINT audit_segments_exported_check CHECK ((exported_at IS NULL) = (object_key IS NULL))
);
CREATE INDEX audit_segments_unexported_idx ON audit_segments (no) WHERE exported_at IS NULL;

CREATE TRIGGER audit_segments_append_trigger BEFORE UPDATE ON audit_segments FOR EACH ROW
    WHEN (OLD.exported_at IS NOT NULL OR NEW.exported_at IS NULL
        OR OLD.no IS DISTINCT FROM NEW.no
        OR OLD.previous_hash IS DISTINCT FROM NEW.previous_hash
        OR OLD.hash IS DISTINCT FROM NEW.hash
        OR OLD.entries IS DISTINCT FROM NEW.entries
        OR OLD.first_id IS DISTINCT FROM NEW.first_id
        OR OLD.last_id IS DISTINCT FROM NEW.last_id
        OR OLD.first_at IS DISTINCT FROM NEW.first_at
        OR OLD.last_at IS DISTINCT FROM NEW.last_at
        OR OLD.sealed_at IS DISTINCT FROM NEW.sealed_at)
    EXECUTE FUNCTION refuse_change('a sealed segment stays as it is, but that it was exported is noted once');
CREATE TRIGGER audit_segments_keep_trigger BEFORE DELETE ON audit_segments FOR EACH ROW
    WHEN (OLD.last_at > now() - interval '90 days')
    EXECUTE FUNCTION refuse_change('the audit log keeps its entries for 90 days at least');

ALTER TABLE audit_log
    -- Null until it is sealed, as the three below.
    ADD COLUMN segment bigint,
    -- 244 random bits; null again once the entry was struck out.
    ADD COLUMN salt bytea,
    ADD COLUMN content_digest bytea,
    ADD COLUMN digest bytea;

CREATE TRIGGER audit_log_unsealed_trigger BEFORE INSERT ON audit_log FOR EACH ROW
    WHEN (NEW.segment IS NOT NULL OR NEW.salt IS NOT NULL OR NEW.content_digest IS NOT NULL OR NEW.digest IS NOT NULL)
    EXECUTE FUNCTION refuse_change('an entry is sealed after it was appended');

-- Fields as bytes, each behind its length in four bytes; -1 is null. No two lists of fields have the same bytes. What verifies the
-- chain has the same encoding (libs/accounts/src/audit-chain/format/encoding.ts).
CREATE FUNCTION audit_encoded(VARIADIC fields text[]) RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT string_agg(
        CASE WHEN field IS NULL THEN int4send(-1) ELSE int4send(length(convert_to(field, 'UTF8'))) || convert_to(field, 'UTF8') END,
        ''::bytea ORDER BY place)
    FROM unnest(fields) WITH ORDINALITY AS given (field, place)
$$;

-- Microseconds since 1970.
CREATE FUNCTION audit_micros(at timestamptz) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT ((extract(epoch FROM at) * 1000000)::bigint)::text
$$;

-- Whether the address of an entry stays when the entry is struck out: from where operators acted is not the account's. Of all others,
-- and of actors that nobody has thought of yet, it goes.
CREATE FUNCTION audit_address_stays(actor text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT actor = 'admin' OR starts_with(actor, 'token:') OR starts_with(actor, 'operator:')
$$;

-- Seals what is committed and not sealed yet, `batch` entries at most, in the order of their ids: as soon as there are so many, or one
-- has waited for `wait_seconds`. An entry whose transaction commits later has its place in a later segment; so has one that is being
-- struck out just now. Returns the segment; null when there is nothing to seal yet.
CREATE FUNCTION seal_audit_log(batch integer, wait_seconds integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    waiting uuid[];
    since timestamptz;
    newest record;
    made record;
    number bigint;
    previous bytea;
    sealed timestamptz := date_trunc('milliseconds', clock_timestamp());
BEGIN
    -- One segment follows another: who seals is alone.
    LOCK TABLE public.audit_segments IN SHARE ROW EXCLUSIVE MODE;
    -- Locked first, and read by the next statement: what was struck out a moment ago is sealed as it is now.
    SELECT array_agg(w.id), min(w.at) INTO waiting, since FROM (
        SELECT id, at FROM public.audit_log WHERE segment IS NULL ORDER BY segment, id LIMIT least(batch, 10000) FOR UPDATE SKIP LOCKED
    ) w;
    IF waiting IS NULL OR (cardinality(waiting) < batch AND since > now() - make_interval(secs => wait_seconds)) THEN
        RETURN NULL;
    END IF;
    SELECT no, hash INTO newest FROM public.audit_segments ORDER BY no DESC LIMIT 1;
    number := coalesce(newest.no, 0) + 1;
    previous := coalesce(newest.hash, decode(repeat('00', 32), 'hex'));

    WITH salted AS MATERIALIZED (
        SELECT w.id, uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) AS salt FROM unnest(waiting) AS w (id)
    ), content AS MATERIALIZED (
        SELECT s.id, s.salt, sha256(public.audit_encoded('millrace audit content 1', encode(s.salt, 'hex'), e.details::text, e.reason,
            CASE WHEN NOT public.audit_address_stays(e.actor) THEN e.address END)) AS content_digest
        FROM salted s JOIN public.audit_log e ON e.id = s.id
    )
    UPDATE public.audit_log e
    SET segment = number, salt = c.salt, content_digest = c.content_digest,
        digest = sha256(public.audit_encoded('millrace audit entry 1', e.id::text, public.audit_micros(e.at), e.actor, e.action,
            e.subject_type, e.subject_id, e.account_id::text,
            CASE WHEN public.audit_address_stays(e.actor) THEN e.address END, encode(c.content_digest, 'hex')))
    FROM content c WHERE e.id = c.id;

    SELECT string_agg(digest, ''::bytea ORDER BY id) AS digests, count(*)::integer AS entries, min(at) AS first_at, max(at) AS last_at,
        (array_agg(id ORDER BY id))[1] AS first_id, (array_agg(id ORDER BY id DESC))[1] AS last_id
    INTO made FROM public.audit_log WHERE segment = number;
    INSERT INTO public.audit_segments (no, previous_hash, hash, entries, first_id, last_id, first_at, last_at, sealed_at)
    VALUES (number, previous,
        sha256(public.audit_encoded('millrace audit segment 1', encode(previous, 'hex'), number::text, made.entries::text,
            public.audit_micros(sealed)) || made.digests),
        made.entries, made.first_id, made.last_id, made.first_at, made.last_at, sealed);
    RETURN number;
END
$$;
REVOKE ALL ON FUNCTION seal_audit_log(integer, integer) FROM PUBLIC;

-- The entries of a segment that is not in the bucket yet, as its object has them. Nobody who may only export reads others.
CREATE FUNCTION read_audit_segment(wanted bigint) RETURNS TABLE (id uuid, at timestamptz, actor text, action text, subject_type text,
        subject_id text, account_id uuid, address text, details text, reason text, salt bytea, content_digest bytea, digest bytea)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT e.id, e.at, e.actor, e.action, e.subject_type, e.subject_id, e.account_id, e.address, e.details::text, e.reason, e.salt,
        e.content_digest, e.digest
    FROM public.audit_segments s JOIN public.audit_log e ON e.segment = s.no
    WHERE s.no = wanted AND s.exported_at IS NULL
    ORDER BY e.id LIMIT 10000;
END
$$;
REVOKE ALL ON FUNCTION read_audit_segment(bigint) FROM PUBLIC;

-- An entry of the audit log stays as it is, but that it is sealed once, and that what was said in it of an erased subject may be
-- struck out, with the salt.
CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.segment IS NULL AND NEW.segment IS NOT NULL AND NEW.salt IS NOT NULL AND NEW.content_digest IS NOT NULL AND NEW.digest IS NOT NULL THEN
        OLD.segment := NEW.segment;
        OLD.salt := NEW.salt;
        OLD.content_digest := NEW.content_digest;
        OLD.digest := NEW.digest;
    ELSIF NEW.details = '{"erased": true}' AND (NEW.address IS NULL OR NEW.address = OLD.address) AND (NEW.reason IS NULL OR NEW.reason = OLD.reason)
        AND NEW.salt IS NULL THEN
        OLD.details := NEW.details;
        OLD.address := NEW.address;
        OLD.reason := NEW.reason;
        OLD.salt := NULL;
    END IF;
    IF NEW IS NOT DISTINCT FROM OLD THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'MR002', MESSAGE = format('%s on %s: %s', TG_OP, TG_TABLE_NAME, TG_ARGV[0]);
END
$$;

-- As before, and the salt goes with what is struck out; so does the address of everyone who is no operator.
CREATE OR REPLACE FUNCTION redact_audit_log(account uuid, texts text[], after uuid, batch integer, OUT last uuid, OUT redacted integer)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    SELECT id INTO last FROM (
        SELECT id FROM public.audit_log WHERE account_id = account AND id > after ORDER BY id LIMIT batch
    ) page ORDER BY id DESC LIMIT 1;
    UPDATE public.audit_log
    SET details = '{"erased": true}',
        address = CASE WHEN public.audit_address_stays(actor) THEN address END,
        reason = NULL,
        salt = NULL
    WHERE account_id = account AND id > after AND id <= last AND action NOT LIKE 'erasure.%'
      AND (details <> '{}' OR address IS NOT NULL OR reason IS NOT NULL)
      AND (texts IS NULL OR EXISTS (
        SELECT FROM unnest(texts) named WHERE position(named IN details::text) > 0 OR position(named IN subject_id) > 0));
    GET DIAGNOSTICS redacted = ROW_COUNT;
END
$$;

-- Deletes the oldest segments whose entries are all older than this, with their entries, until `batch` entries are gone or none is left;
-- returns how many entries. What is not sealed stays. So does the newest segment: the next one follows it.
CREATE OR REPLACE FUNCTION sweep_audit_log(kept_seconds bigint, batch integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    oldest record;
    swept bigint;
    gone bigint := 0;
BEGIN
    WHILE gone < batch LOOP
        SELECT no, last_at INTO oldest FROM public.audit_segments ORDER BY no LIMIT 1;
        EXIT WHEN oldest.no IS NULL OR oldest.last_at >= now() - make_interval(secs => kept_seconds)
            OR NOT EXISTS (SELECT FROM public.audit_segments WHERE no > oldest.no);
        DELETE FROM public.audit_log WHERE segment = oldest.no;
        GET DIAGNOSTICS swept = ROW_COUNT;
        DELETE FROM public.audit_segments WHERE no = oldest.no;
        gone := gone + swept;
    END LOOP;
    RETURN gone;
END
$$;
