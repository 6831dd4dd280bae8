-- The database as the migrations leave it, for reading and for reviewing what a migration changes.
-- Written by: node scripts/structure.mjs --write

CREATE OR REPLACE FUNCTION public.audit_address_stays(actor text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
    SELECT actor = 'admin' OR starts_with(actor, 'token:') OR starts_with(actor, 'operator:')
$function$;

CREATE OR REPLACE FUNCTION public.audit_encoded(VARIADIC fields text[])
 RETURNS bytea
 LANGUAGE sql
 STABLE
AS $function$
    SELECT string_agg(
        CASE WHEN field IS NULL THEN int4send(-1) ELSE int4send(length(convert_to(field, 'UTF8'))) || convert_to(field, 'UTF8') END,
        ''::bytea ORDER BY place)
    FROM unnest(fields) WITH ORDINALITY AS given (field, place)
$function$;

CREATE OR REPLACE FUNCTION public.audit_micros(at timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
    SELECT ((extract(epoch FROM at) * 1000000)::bigint)::text
$function$;

CREATE OR REPLACE FUNCTION public.audit_names_label(said jsonb, label text, value text)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
    wanted CONSTANT jsonb := jsonb_build_object('label', label, 'value', value);
    held text;
BEGIN
    IF jsonb_path_exists(said, 'strict $.** ? (
        (@.value == $value && (@.label == $label || $label == null && exists(@.label)))
        || exists(@.labels.keyvalue() ? (@.value == $value && (@.key == $label || $label == null))))', wanted) THEN
        RETURN true;
    END IF;
    FOR held IN SELECT jsonb_path_query(said, 'strict $.** ? (@ starts with "{")') #>> '{}' LOOP
        BEGIN
            IF public.audit_names_label(held::jsonb, label, value) THEN
                RETURN true;
            END IF;
        EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
            -- A text of a customer's that is no JSON: the service writes labels into none such.
        END;
    END LOOP;
    RETURN false;
END
$function$;

CREATE OR REPLACE FUNCTION public.await_dispatch(pool text, wait_ms integer)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
DECLARE
    lock_timeout_before CONSTANT text := current_setting('lock_timeout');
BEGIN
    PERFORM set_config('lock_timeout', wait_ms || 'ms', true);
    PERFORM pg_advisory_xact_lock(hashtextextended('dispatch:' || pool, 0));
    PERFORM set_config('lock_timeout', lock_timeout_before, true);
    RETURN pool;
EXCEPTION WHEN lock_not_available THEN
    RETURN pool;
END
$function$;

CREATE OR REPLACE FUNCTION public.bequeath_member()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    UPDATE api_keys SET member_id = NEW.member_id WHERE id = NEW.rotated_to AND member_id IS NULL;
    RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.count_first_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF current_setting('millrace.counts_caps', true) = 'on' THEN
        RETURN NULL;
    END IF;
    UPDATE label_use u SET day_warned = 0, month_warned = 0, day_mail = 0, month_mail = 0, day_stopped_on = NULL, month_stopped_on = NULL
    WHERE u.account_id = NEW.account_id AND u.label = NEW.label AND u.value = NEW.value;
    INSERT INTO label_use AS u (account_id, label, value, day, day_micros, month_micros)
    SELECT NEW.account_id, NEW.label, NEW.value, (now() AT TIME ZONE 'UTC')::date, coalesce(sum(g.day_micros), 0), sum(g.month_micros)
    FROM (
        SELECT r.api_key_id, sum(r.charged_micros) AS month_micros,
            sum(r.charged_micros) FILTER (WHERE r.finished_at >= date_trunc('day', now(), 'UTC')) AS day_micros
        FROM usage_records r
        WHERE r.account_id = NEW.account_id AND r.finished_at >= date_trunc('month', now(), 'UTC') GROUP BY r.api_key_id
    ) g WHERE NEW.value::uuid = ANY (spend_keys_of(g.api_key_id)) HAVING count(*) > 0
    ON CONFLICT (account_id, label, value) DO UPDATE SET day = excluded.day, day_micros = excluded.day_micros, month_micros = excluded.month_micros;
    RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.count_stored_bytes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    INSERT INTO account_storage AS s (account_id, stored_bytes)
    VALUES (coalesce(NEW.account_id, OLD.account_id), coalesce(NEW.size_bytes, 0) - coalesce(OLD.size_bytes, 0))
    ON CONFLICT (account_id) DO UPDATE SET stored_bytes = s.stored_bytes + excluded.stored_bytes;
    RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.created_at_of(id uuid)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
    SELECT to_timestamp(('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0::float8)
$function$;

CREATE OR REPLACE FUNCTION public.dispatch_turn(pool text, since timestamp with time zone, OUT in_flight bigint, OUT oldest timestamp with time zone)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('dispatch:' || pool, 0)) THEN
        RETURN;
    END IF;
    IF since IS NULL THEN
        SELECT count(*), min(dispatched_at) INTO in_flight, oldest FROM jobs
        WHERE pool_id = pool AND delivery IN ('dispatched', 'leased') AND dispatched_at IS NOT NULL;
    ELSE
        SELECT count(*), min(dispatched_at) INTO in_flight, oldest FROM jobs
        WHERE pool_id = pool AND delivery IN ('dispatched', 'leased') AND dispatched_at >= since;
    END IF;
END
$function$;

CREATE OR REPLACE FUNCTION public.dispatch_turns(pool text, room integer, most integer, stride bigint, from_pass bigint, since timestamp with time zone, wait_ms integer)
 RETURNS TABLE(id uuid, attempt integer, traceparent text, models text[], pass bigint, in_flight integer, in_flight_since timestamp with time zone, skipped boolean)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET enable_sort TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
#variable_conflict use_column
DECLARE
    first_id CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
    -- After which account they are read, in the order of their turns.
    after_pass bigint := coalesce(from_pass, -9223372036854775808);
    after_account uuid := first_id;
    in_flight_now integer;
    oldest timestamptz;
    first_account uuid;
    first_pass bigint;
    turn_account uuid;
    turn_pass bigint;
    -- Where the row of the account lies: it is locked, so that it stays there.
    turn_row tid;
    turn_head uuid;
    new_head uuid;
    job_id uuid;
    job_attempt integer;
    job_traceparent text;
    job_models text[];
    reached bigint;
    looked boolean;
    seen_pass bigint;
    passed_over boolean := false;
BEGIN
    IF wait_ms > 0 THEN
        PERFORM set_config('lock_timeout', wait_ms || 'ms', true);
    END IF;
    SELECT g.in_flight, coalesce(g.oldest, now()) INTO in_flight_now, oldest FROM dispatch_turn(pool, since) g;
    FOR n IN 1 .. most LOOP
        first_account := NULL;
        first_pass := NULL;
        turn_account := NULL;
        turn_pass := NULL;
        turn_head := NULL;
        job_id := NULL;
        looked := in_flight_now < room;
        IF looked THEN
            SELECT t.account_id, t.pass INTO first_account, first_pass FROM account_turns t
            WHERE t.pool_id = pool AND t.eligible AND (t.pass, t.account_id) > (after_pass, after_account)
            ORDER BY t.pass, t.account_id LIMIT 1;
        END IF;
        -- From the first on: what is dead before it has been read once.
        -- The row of its queue is looked for from the end of its key: the versions that it left lie before it.
        IF first_account IS NOT NULL AND wait_ms > 0 THEN
            SELECT q.account_id, q.pass, q.ctid, q.head_id INTO turn_account, turn_pass, turn_row, turn_head
            FROM account_turns t CROSS JOIN LATERAL (
                SELECT q.account_id, q.pass, q.ctid, q.head_id FROM account_queues q
                WHERE q.pool_id = t.pool_id AND q.account_id >= t.account_id AND q.account_id <= t.account_id AND q.pass = t.pass AND q.eligible
                ORDER BY q.account_id DESC LIMIT 1 FOR NO KEY UPDATE) q
            WHERE t.pool_id = pool AND t.eligible AND (t.pass, t.account_id) >= (first_pass, first_account)
            ORDER BY t.pass, t.account_id LIMIT 1;
        ELSIF first_account IS NOT NULL THEN
            SELECT q.account_id, q.pass, q.ctid, q.head_id INTO turn_account, turn_pass, turn_row, turn_head
            FROM account_turns t CROSS JOIN LATERAL (
                SELECT q.account_id, q.pass, q.ctid, q.head_id FROM account_queues q
                WHERE q.pool_id = t.pool_id AND q.account_id >= t.account_id AND q.account_id <= t.account_id AND q.pass = t.pass AND q.eligible
                ORDER BY q.account_id DESC LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) q
            WHERE t.pool_id = pool AND t.eligible AND (t.pass, t.account_id) >= (first_pass, first_account)
            ORDER BY t.pass, t.account_id LIMIT 1;
        END IF;
        -- The head is the first that waits, also where another statement has that locked and a later one is taken.
        IF turn_head IS NOT NULL AND (from_pass IS NOT NULL OR n > 1) THEN
            UPDATE jobs SET delivery = 'dispatched', dispatched_at = clock_timestamp(), updated_at = clock_timestamp()
            WHERE id = (
                SELECT j.id FROM jobs j
                WHERE j.pool_id = pool AND j.account_id = turn_account AND j.delivery = 'waiting'
                    AND j.priority = ANY (ARRAY[0]) AND j.id >= turn_head
                ORDER BY j.priority DESC, j.id LIMIT 1 FOR UPDATE SKIP LOCKED)
            RETURNING id, attempt + 1, traceparent, models, (
                SELECT j.id FROM jobs j
                WHERE j.pool_id = pool AND j.account_id = turn_account AND j.delivery = 'waiting'
                    AND j.priority = ANY (ARRAY[0]) AND j.id >= turn_head
                ORDER BY j.priority DESC, j.id LIMIT 1) INTO job_id, job_attempt, job_traceparent, job_models, new_head;
        END IF;
        IF turn_account IS NOT NULL AND job_id IS NULL THEN
            UPDATE jobs SET delivery = 'dispatched', dispatched_at = clock_timestamp(), updated_at = clock_timestamp()
            WHERE id = (
                SELECT j.id FROM jobs j
                WHERE j.pool_id = pool AND j.account_id = turn_account AND j.delivery = 'waiting'
                ORDER BY j.priority DESC, j.id LIMIT 1 FOR UPDATE SKIP LOCKED)
            RETURNING id, attempt + 1, traceparent, models, (
                SELECT CASE WHEN j.priority = 0 THEN j.id END FROM jobs j
                WHERE j.pool_id = pool AND j.account_id = turn_account AND j.delivery = 'waiting'
                ORDER BY j.priority DESC, j.id LIMIT 1) INTO job_id, job_attempt, job_traceparent, job_models, new_head;
        END IF;
        IF job_id IS NOT NULL THEN
            UPDATE account_queues q SET waiting = q.waiting - 1, in_flight = q.in_flight + 1, pass = q.pass + stride / q.weight,
                head_id = new_head
            WHERE q.ctid = turn_row;
            IF NOT FOUND THEN
                RAISE EXCEPTION 'the queue of account % in pool % is not where it was locked', turn_account, pool;
            END IF;
            reached := greatest(reached, turn_pass);
            -- What had its turn is dead in the index, and stays so until the statement ends.
            IF first_account = turn_account THEN
                after_pass := turn_pass;
                after_account := turn_account;
            END IF;
        END IF;
        IF turn_account IS NOT NULL AND job_id IS NULL THEN
            passed_over := true;
            after_pass := turn_pass;
            after_account := turn_account;
            CONTINUE WHEN n < most;
        END IF;
        seen_pass := least(turn_pass, first_pass);
        IF looked AND seen_pass IS NULL THEN
            SELECT p.virtual_time INTO seen_pass FROM pools p WHERE p.id = pool;
        END IF;
        RETURN QUERY SELECT job_id, job_attempt, job_traceparent, job_models, seen_pass, in_flight_now, oldest,
            passed_over OR coalesce(first_account <> turn_account, first_account IS NOT NULL);
        in_flight_now := in_flight_now + 1;
        EXIT WHEN job_id IS NULL OR in_flight_now >= room;
    END LOOP;
    UPDATE pools SET virtual_time = reached WHERE id = pool AND virtual_time < reached;
END
$function$;

CREATE OR REPLACE FUNCTION public.extend_label_hold(account uuid, counted text, counted_value text, added bigint, day_stopped boolean, month_stopped boolean)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
    today CONSTANT date := (now() AT TIME ZONE 'UTC')::date;
    changed integer;
BEGIN
    UPDATE label_use u SET held_micros = u.held_micros + added,
        day_stopped_on = CASE WHEN day_stopped THEN greatest(today, CASE WHEN u.day <= today + 1 THEN u.day END, CASE WHEN u.warned_on <= today + 1 THEN u.warned_on END) ELSE u.day_stopped_on END,
        month_stopped_on = CASE WHEN month_stopped THEN greatest(today, CASE WHEN u.day <= today + 1 THEN u.day END, CASE WHEN u.warned_on <= today + 1 THEN u.warned_on END) ELSE u.month_stopped_on END
    WHERE u.account_id = account AND u.label = counted AND u.value = counted_value;
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN changed;
END
$function$;

CREATE OR REPLACE FUNCTION public.follow_turn()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
DECLARE
    was_busy CONSTANT boolean := TG_OP <> 'INSERT' AND OLD.busy;
    -- The columns that PostgreSQL generates have no value in a row that is not yet written.
    is_busy CONSTANT boolean := TG_OP <> 'DELETE' AND NEW.waiting > 0;
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.waiting > OLD.waiting AND NEW.in_flight < OLD.in_flight THEN
        NEW.head_id := NULL;
    END IF;
    IF was_busy AND is_busy THEN
        IF OLD.pass <> NEW.pass OR OLD.eligible <> (NEW.in_flight < NEW.running_limit) THEN
            UPDATE account_turns t SET eligible = NEW.in_flight < NEW.running_limit, pass = NEW.pass
            WHERE t.pool_id = OLD.pool_id AND t.eligible = OLD.eligible AND t.pass = OLD.pass AND t.account_id = OLD.account_id;
        END IF;
    ELSIF is_busy THEN
        INSERT INTO account_turns (pool_id, eligible, pass, account_id)
        VALUES (NEW.pool_id, NEW.in_flight < NEW.running_limit, NEW.pass, NEW.account_id);
    ELSIF was_busy THEN
        DELETE FROM account_turns t
        WHERE t.pool_id = OLD.pool_id AND t.eligible = OLD.eligible AND t.pass = OLD.pass AND t.account_id = OLD.account_id;
    END IF;
    RETURN NEW;
END
$function$;

CREATE OR REPLACE FUNCTION public.in_flight_of(pool text)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
BEGIN
    RETURN (
        SELECT count(*) FROM jobs
        WHERE pool_id = pool AND delivery IN ('dispatched', 'leased') AND dispatched_at IS NOT NULL
    );
END
$function$;

CREATE OR REPLACE FUNCTION public.inherit_member()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    SELECT p.member_id INTO NEW.member_id FROM api_keys p WHERE p.id = NEW.parent_id;
    RETURN NEW;
END
$function$;

CREATE OR REPLACE FUNCTION public.inherit_spend_keys()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    UPDATE api_keys SET spend_keys = coalesce(NEW.spend_keys, ARRAY[NEW.id]) WHERE id = NEW.rotated_to;
    RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.latest_key(api_key uuid)
 RETURNS uuid
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
DECLARE
    latest uuid := api_key;
    successor uuid;
BEGIN
    LOOP
        SELECT k.rotated_to INTO successor FROM api_keys k WHERE k.id = latest;
        EXIT WHEN successor IS NULL;
        latest := successor;
    END LOOP;
    RETURN latest;
END
$function$;

CREATE OR REPLACE FUNCTION public.leave_labels(account uuid, labels text[], metadata jsonb, api_key uuid, held bigint, charged bigint)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
    today CONSTANT date := (now() AT TIME ZONE 'UTC')::date;
    changed integer;
BEGIN
    PERFORM FROM unnest(labels) AS counted (name)
    JOIN label_use u ON u.account_id = account AND u.label = limited_label(counted.name)
        AND u.value = limited_value(counted.name, metadata, api_key)
    ORDER BY u.label, u.value FOR UPDATE OF u;
    UPDATE label_use u SET live = greatest(u.live - 1, 0), held_micros = greatest(u.held_micros - held, 0), 
        day = greatest(CASE WHEN u.day <= today + 1 THEN u.day END, today),
        day_micros = CASE WHEN u.day BETWEEN today AND today + 1 THEN u.day_micros ELSE 0 END + CASE WHEN u.day = today + 1 THEN 0 ELSE charged END,
        month_micros = CASE WHEN u.day = today + 1 OR date_trunc('month', u.day) = date_trunc('month', today) THEN u.month_micros ELSE 0 END
            + CASE WHEN u.day = today + 1 AND date_trunc('month', u.day) > date_trunc('month', today) THEN 0 ELSE charged END
    FROM unnest(labels) AS counted (name)
    WHERE u.account_id = account AND u.label = limited_label(counted.name) AND u.value = limited_value(counted.name, metadata, api_key);
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN changed;
END
$function$;

CREATE OR REPLACE FUNCTION public.leave_queue(pool text, account uuid, was_waiting boolean)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
    changed integer;
BEGIN
    UPDATE account_queues q SET waiting = q.waiting - CASE WHEN was_waiting THEN 1 ELSE 0 END,
        in_flight = q.in_flight - CASE WHEN was_waiting THEN 0 ELSE 1 END,
        pass = CASE WHEN q.eligible THEN q.pass ELSE greatest(q.pass, p.virtual_time) END
    FROM pools p WHERE p.id = q.pool_id AND q.pool_id = pool AND q.account_id = account;
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN changed;
END
$function$;

CREATE OR REPLACE FUNCTION public.limited_label(counted text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
    SELECT CASE WHEN starts_with(counted, '@key=') THEN '@key' ELSE counted END
$function$;

CREATE OR REPLACE FUNCTION public.limited_value(label text, metadata jsonb, api_key uuid)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
    SELECT CASE WHEN label = '@account' THEN '' WHEN label = '@key' THEN api_key::text WHEN starts_with(label, '@key=') THEN substr(label, 6)
        ELSE metadata ->> label END
$function$;

CREATE OR REPLACE FUNCTION public.lock_label_rooms(account uuid, labels text[], metadata jsonb, api_key uuid)
 RETURNS TABLE(label text, value text, daily_at_cap text, monthly_at_cap text, day_room bigint, month_room bigint)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE
    today CONSTANT date := (now() AT TIME ZONE 'UTC')::date;
BEGIN
    RETURN QUERY
        SELECT u.label, u.value, r.daily_at_cap, r.monthly_at_cap,
            r.daily_micros - CASE WHEN u.day BETWEEN today AND today + 1 THEN u.day_micros ELSE 0 END - u.held_micros,
            r.monthly_micros - CASE WHEN u.day = today + 1 OR date_trunc('month', u.day) = date_trunc('month', today) THEN u.month_micros ELSE 0 END - u.held_micros
        FROM unnest(labels) AS counted (name)
        JOIN label_use u ON u.account_id = account AND u.label = limited_label(counted.name)
            AND u.value = limited_value(counted.name, metadata, api_key)
        LEFT JOIN LATERAL (
            SELECT r.daily_micros, r.monthly_micros, r.daily_at_cap, r.monthly_at_cap FROM label_rules r
            WHERE r.account_id = u.account_id AND r.label = u.label AND (r.value = u.value OR r.value IS NULL)
            ORDER BY r.value NULLS LAST LIMIT 1
        ) r ON true
        ORDER BY u.label, u.value FOR UPDATE OF u;
END
$function$;

CREATE OR REPLACE FUNCTION public.model_bytes(account uuid, names text[])
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
BEGIN
    RETURN (
        SELECT coalesce(sum(content.size_bytes), 0) FROM (
            SELECT DISTINCT ON (meant.digest) meant.size_bytes FROM (
                SELECT DISTINCT ON (known.folder, known.name) known.digest, known.size_bytes FROM (
                    SELECT m.folder, m.name, m.digest, m.size_bytes, true AS own FROM models m
                    WHERE m.account_id = account AND m.name = ANY(names) AND m.state = 'ready'
                    UNION ALL
                    SELECT m.folder, m.name, m.digest, m.size_bytes, false FROM models m
                    WHERE m.shared AND m.name = ANY(names) AND m.state = 'ready'
                ) known
                ORDER BY known.folder, known.name, known.own DESC
            ) meant
        ) content
    );
END
$function$;

CREATE OR REPLACE FUNCTION public.name_first_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    NEW.value := (spend_keys_of(NEW.value::uuid))[1]::text;
    RETURN NEW;
END
$function$;

CREATE OR REPLACE FUNCTION public.new_job_id()
 RETURNS uuid
 LANGUAGE sql
 PARALLEL SAFE
AS $function$
    SELECT (lpad(to_hex(micros / 1000), 12, '0')
         || '7' || lpad(to_hex(micros % 1000 * 4096 / 1000), 3, '0')
         || right(replace(gen_random_uuid()::text, '-', ''), 16))::uuid
    FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS micros) clock
$function$;

CREATE OR REPLACE FUNCTION public.note_label_spend()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
    began CONSTANT date := (now() AT TIME ZONE 'UTC')::date;
    today CONSTANT date := greatest(began, CASE WHEN NEW.day <= began + 1 THEN NEW.day END,
        CASE WHEN NEW.warned_on <= began + 1 THEN NEW.warned_on END);
    day_before smallint := 0;
    month_before smallint := 0;
    -- Whether a mail about a former cap was taken back: what is true of the cap as it is now is noted again, at any level.
    is_day_renewed boolean := false;
    is_month_renewed boolean := false;
    rule record;
    in_day bigint;
    in_month bigint;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        is_day_renewed := OLD.day_mail > 0 AND NEW.day_mail = 0 AND NEW.day_warned = 0;
        is_month_renewed := OLD.month_mail > 0 AND NEW.month_mail = 0 AND NEW.month_warned = 0;
    END IF;
    IF NEW.warned_on IS DISTINCT FROM today THEN
        NEW.day_warned := 0;
        IF date_trunc('month', NEW.warned_on) IS DISTINCT FROM date_trunc('month', today) THEN
            NEW.month_warned := 0;
        END IF;
        NEW.warned_on := today;
    END IF;
    IF NEW.day_stopped_on <> today THEN
        NEW.day_stopped_on := NULL;
    END IF;
    IF date_trunc('month', NEW.month_stopped_on) <> date_trunc('month', today) THEN
        NEW.month_stopped_on := NULL;
    END IF;
    SELECT r.daily_micros, r.monthly_micros, r.daily_at_cap, r.monthly_at_cap INTO rule FROM label_rules r
    WHERE r.account_id = NEW.account_id AND r.label = NEW.label AND (r.value = NEW.value OR r.value IS NULL)
    ORDER BY r.value NULLS LAST LIMIT 1;
    IF NOT FOUND THEN
        RETURN NEW;
    END IF;
    in_day := CASE WHEN NEW.day = today THEN NEW.day_micros ELSE 0 END;
    in_month := CASE WHEN date_trunc('month', NEW.day) = date_trunc('month', today) THEN NEW.month_micros ELSE 0 END;
    NEW.day_warned := greatest(NEW.day_warned, spend_level(in_day + NEW.held_micros, rule.daily_micros));
    NEW.month_warned := greatest(NEW.month_warned, spend_level(in_month + NEW.held_micros, rule.monthly_micros));
    IF rule.daily_at_cap = 'stop' AND (in_day >= rule.daily_micros OR in_day + NEW.held_micros > rule.daily_micros) THEN
        NEW.day_stopped_on := today;
    END IF;
    IF rule.monthly_at_cap = 'stop' AND (in_month >= rule.monthly_micros OR in_month + NEW.held_micros > rule.monthly_micros) THEN
        NEW.month_stopped_on := today;
    END IF;
    IF starts_with(NEW.label, '@') AND (NEW.day_warned > 0 OR NEW.month_warned > 0) THEN
        IF TG_OP = 'UPDATE' THEN
            IF OLD.warned_on = today AND NOT is_day_renewed THEN day_before := OLD.day_warned; END IF;
            IF date_trunc('month', OLD.warned_on) = date_trunc('month', today) AND NOT is_month_renewed THEN
                month_before := OLD.month_warned;
            END IF;
        END IF;
        IF NEW.day_warned > day_before THEN
            NEW.day_mail := NEW.day_warned;
            NEW.day_mail_on := today;
        END IF;
        IF NEW.month_warned > month_before THEN
            NEW.month_mail := NEW.month_warned;
            NEW.month_mail_on := today;
        END IF;
    END IF;
    RETURN NEW;
END
$function$;

CREATE OR REPLACE FUNCTION public.note_low_credits()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
    had CONSTANT bigint := OLD.available_micros + OLD.held_micros;
    has CONSTANT bigint := NEW.available_micros + NEW.held_micros;
BEGIN
    IF NEW.alerted_at IS NULL AND has < NEW.alert_below_micros AND has < had THEN
        NEW.alerted_at := now();
    ELSIF NEW.alerted_at IS NOT NULL AND has >= NEW.alert_below_micros
            AND (has > had OR NEW.alert_below_micros <> OLD.alert_below_micros) THEN
        NEW.alerted_at := NULL;
    END IF;
    RETURN NEW;
END
$function$;

CREATE OR REPLACE FUNCTION public.read_audit_segment(wanted bigint)
 RETURNS TABLE(id uuid, at timestamp with time zone, actor text, action text, subject_type text, subject_id text, account_id uuid, address text, details text, reason text, salt bytea, content_digest bytea, digest bytea)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
    RETURN QUERY SELECT e.id, e.at, e.actor, e.action, e.subject_type, e.subject_id, e.account_id, e.address, e.details::text, e.reason, e.salt,
        e.content_digest, e.digest
    FROM public.audit_segments s JOIN public.audit_log e ON e.segment = s.no
    WHERE s.no = wanted AND s.exported_at IS NULL
    ORDER BY e.id LIMIT 10000;
END
$function$;

CREATE OR REPLACE FUNCTION public.record_deployment_event(pool text, event text, more jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM record_webhook_event(d.account_id, event, more || jsonb_build_object(
        'id', d.id, 'name', d.name, 'version', coalesce(substring(pool FROM '-v([0-9]+)$')::int, 1)))
    FROM deployments d
    WHERE d.desired_state = 'running' AND d.deleted_at IS NULL AND d.id IN (
        SELECT id FROM deployments WHERE pool_id = pool
        UNION ALL SELECT deployment_id FROM deployment_versions WHERE pool_id = pool AND ended_at IS NULL);
END
$function$;

CREATE OR REPLACE FUNCTION public.record_disabled_exports()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM record_webhook_event(NEW.account_id, 'exports.disabled', jsonb_build_object(
        'reason', NEW.disabled_reason, 'bucket', NEW.bucket, 'prefix', NEW.prefix,
        'failing_since', to_char(NEW.failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')));
    RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.record_failed_deployment()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM record_deployment_event(NEW.pool_id, 'deployment.failed', jsonb_build_object('reason', NEW.reason));
    RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.record_low_credits()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM record_webhook_event(NEW.account_id, 'credits.low', jsonb_build_object(
        'available_micros', NEW.available_micros, 'held_micros', NEW.held_micros, 'alert_below_micros', NEW.alert_below_micros));
    RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.record_ready_deployment()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM record_deployment_event(NEW.pool_id, 'deployment.ready', '{}');
    RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.record_spend_warnings()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
    day_before smallint := 0;
    month_before smallint := 0;
    rule record;
    warning record;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF OLD.warned_on = NEW.warned_on THEN day_before := OLD.day_warned; END IF;
        IF date_trunc('month', OLD.warned_on) = date_trunc('month', NEW.warned_on) THEN month_before := OLD.month_warned; END IF;
    END IF;
    IF NEW.day_warned <= day_before AND NEW.month_warned <= month_before THEN
        RETURN NULL;
    END IF;
    SELECT r.daily_micros, r.monthly_micros, r.daily_at_cap, r.monthly_at_cap INTO rule FROM label_rules r
    WHERE r.account_id = NEW.account_id AND r.label = NEW.label AND (r.value = NEW.value OR r.value IS NULL)
    ORDER BY r.value NULLS LAST LIMIT 1;
    FOR warning IN
        SELECT * FROM (VALUES
            ('day', day_before, NEW.day_warned, rule.daily_micros, rule.daily_at_cap,
                CASE WHEN NEW.day = NEW.warned_on THEN NEW.day_micros ELSE 0 END),
            ('month', month_before, NEW.month_warned, rule.monthly_micros, rule.monthly_at_cap,
                CASE WHEN date_trunc('month', NEW.day) = date_trunc('month', NEW.warned_on) THEN NEW.month_micros ELSE 0 END)
        ) AS w (span, before, percent, cap, at_cap, charged) WHERE w.percent > w.before
    LOOP
        PERFORM record_webhook_event(NEW.account_id, 'spend.warning', jsonb_build_object(
            'scope', CASE NEW.label WHEN '@account' THEN 'account' WHEN '@key' THEN 'key' ELSE 'label' END,
            'key_id', CASE WHEN NEW.label = '@key' THEN latest_key(NEW.value::uuid) END,
            'label', CASE WHEN NOT starts_with(NEW.label, '@') THEN NEW.label END,
            'value', CASE WHEN NOT starts_with(NEW.label, '@') THEN NEW.value END,
            'span', warning.span, 'percent', warning.percent, 'cap_micros', warning.cap, 'at_cap', warning.at_cap,
            'held_micros', NEW.held_micros, 'charged_micros', warning.charged));
    END LOOP;
    RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.record_stopped_deployment()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM record_webhook_event(NEW.account_id, 'deployment.stopped', jsonb_build_object(
        'id', NEW.id, 'name', NEW.name, 'reason', CASE WHEN NEW.deleted_at IS NULL THEN 'stopped' ELSE 'deleted' END));
    RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.record_webhook_event(account uuid, event text, event_data jsonb)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
    recorded integer;
BEGIN
    INSERT INTO webhook_messages (endpoint_id, type, data)
    SELECT e.id, event, event_data FROM webhook_endpoints e
    WHERE e.account_id = account AND e.deleted_at IS NULL AND event = ANY (e.event_types);
    GET DIAGNOSTICS recorded = ROW_COUNT;
    RETURN recorded;
END
$function$;

CREATE OR REPLACE FUNCTION public.recount_stored_bytes(account uuid)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
DECLARE
    counted bigint;
    stored bigint;
BEGIN
    INSERT INTO account_storage (account_id) VALUES (account) ON CONFLICT DO NOTHING;
    SELECT stored_bytes INTO counted FROM account_storage WHERE account_id = account FOR UPDATE;
    SELECT coalesce(sum(size_bytes), 0) INTO stored FROM blobs WHERE account_id = account;
    UPDATE account_storage SET stored_bytes = stored WHERE account_id = account AND stored_bytes <> stored;
    RETURN counted - stored;
END
$function$;

CREATE OR REPLACE FUNCTION public.redact_audit_log(account uuid, texts text[], after uuid, batch integer, OUT last uuid, OUT redacted integer)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
    id_form CONSTANT text := '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
    ids CONSTANT text[] := ARRAY(SELECT given FROM unnest(texts) given WHERE given ~ ('^' || id_form || '$'));
    pairs CONSTANT jsonb[] := ARRAY(
        SELECT CASE WHEN starts_with(given, '{') THEN given::jsonb ELSE jsonb_build_object('value', given::jsonb) END
        FROM unnest(texts) given WHERE starts_with(given, '{') OR starts_with(given, '"'));
BEGIN
    SELECT id INTO last FROM (
        SELECT id FROM public.audit_log WHERE account_id = account AND id > after ORDER BY id LIMIT batch
    ) page ORDER BY id DESC LIMIT 1;
    WITH page AS MATERIALIZED (
        SELECT id AS entry, concat_ws(E'\n', subject_id, details::text) AS said, details AS facts FROM public.audit_log
        WHERE account_id = account AND id > after AND id <= last AND action NOT LIKE 'erasure.%'
          AND (details <> '{}' OR address IS NOT NULL OR reason IS NOT NULL)
    ), named AS (
        SELECT entry FROM page
        WHERE texts IS NULL
           OR EXISTS (SELECT FROM unnest(pairs) pair WHERE public.audit_names_label(facts, pair ->> 'label', pair ->> 'value'))
        UNION
        SELECT entry FROM page CROSS JOIN LATERAL regexp_matches(said, id_form, 'g') AS hit (parts)
        JOIN unnest(ids) AS known (key) ON known.key = hit.parts[1]
        WHERE cardinality(ids) > 0
    )
    UPDATE public.audit_log
    SET details = '{"erased": true}',
        address = CASE WHEN public.audit_address_stays(actor) THEN address END,
        reason = NULL,
        salt = NULL
    FROM named WHERE id = named.entry;
    GET DIAGNOSTICS redacted = ROW_COUNT;
END
$function$;

CREATE OR REPLACE FUNCTION public.refuse(reason text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'MR001', MESSAGE = reason;
END
$function$;

CREATE OR REPLACE FUNCTION public.refuse_audit_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'MR002', MESSAGE = format('%s on %s: %s', TG_OP, TG_TABLE_NAME, TG_ARGV[0]);
END
$function$;

CREATE OR REPLACE FUNCTION public.refuse_ledger_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.reason = 'erased' AND OLD.reason IS NOT NULL THEN
        OLD.reason := NEW.reason;
        IF NEW IS NOT DISTINCT FROM OLD THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'MR002', MESSAGE = format('%s on %s: %s', TG_OP, TG_TABLE_NAME, TG_ARGV[0]);
END
$function$;

CREATE OR REPLACE FUNCTION public.refuse_row(relation text, rule text)
 RETURNS void
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
BEGIN
    RAISE check_violation USING
        MESSAGE = format('new row for relation "%s" violates check constraint "%s"', relation, rule),
        DETAIL = format('The rules are in the function keeps_rules(%s).', relation),
        TABLE = relation, CONSTRAINT = rule;
END
$function$;

CREATE OR REPLACE FUNCTION public.refuse_step_back()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF NEW.attempt < OLD.attempt OR NEW.seq < OLD.seq OR (NEW.status <> OLD.status AND NEW.seq <> OLD.seq + 1) THEN
        RAISE EXCEPTION USING ERRCODE = 'MR002',
            MESSAGE = format('%s on %s: attempt and seq only grow, and each status has its own seq', TG_OP, TG_TABLE_NAME);
    END IF;
    RETURN NEW;
END
$function$;

CREATE OR REPLACE FUNCTION public.refuse_terminal_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF OLD.batch_index IS NOT NULL AND NEW.batch_index IS NULL THEN
        OLD.batch_index := NULL;
        IF NEW IS NOT DISTINCT FROM OLD THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'MR002', MESSAGE = format('%s on %s: %s', TG_OP, TG_TABLE_NAME, TG_ARGV[0]);
END
$function$;

CREATE OR REPLACE FUNCTION public.seal_audit_log(batch integer, wait_seconds integer)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION public.spend_keys_of(api_key uuid)
 RETURNS uuid[]
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
BEGIN
    RETURN CASE WHEN api_key IS NOT NULL
        THEN coalesce((SELECT k.spend_keys FROM api_keys k WHERE k.id = api_key), ARRAY[api_key]) END;
END
$function$;

CREATE OR REPLACE FUNCTION public.spend_level(used bigint, cap bigint)
 RETURNS smallint
 LANGUAGE sql
 IMMUTABLE
AS $function$
    SELECT (CASE WHEN cap IS NULL THEN 0 WHEN used >= cap THEN 100 WHEN used >= cap * 0.8 THEN 80 WHEN used >= cap * 0.5 THEN 50 ELSE 0 END)::smallint
$function$;

CREATE OR REPLACE FUNCTION public.sweep_audit_log(kept_seconds bigint, batch integer)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION public.use_models(account uuid, names text[])
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
DECLARE
    ids uuid[];
    known text[];
BEGIN
    SELECT array_agg(held.id), array_agg(held.name) INTO ids, known FROM (
        SELECT m.id, m.name FROM models m
        WHERE m.state = 'ready' AND m.id IN (
            SELECT own.id FROM models own WHERE own.account_id = account AND own.name = ANY(names) AND own.state = 'ready'
            UNION ALL SELECT lent.id FROM models lent WHERE lent.shared AND lent.name = ANY(names) AND lent.state = 'ready')
        ORDER BY m.id FOR KEY SHARE
    ) held;
    IF NOT names <@ coalesce(known, '{}') THEN
        RETURN refuse('model_gone');
    END IF;
    UPDATE models SET last_used_at = now() WHERE id IN (
        SELECT m.id FROM models m WHERE m.id = ANY(ids) AND coalesce(m.last_used_at, '-infinity') < now() - interval '1 hour'
        FOR NO KEY UPDATE SKIP LOCKED);
    RETURN true;
END
$function$;

CREATE OR REPLACE FUNCTION public.withdraw_outputs(job uuid)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
    last_billed CONSTANT smallint := coalesce((SELECT max(t.attempt) FROM job_attempts t WHERE t.job_id = job AND t.billed_ms > 0), 0);
BEGIN
    RETURN withdraw_outputs_after(job, last_billed);
END
$function$;

CREATE OR REPLACE FUNCTION public.withdraw_outputs_after(of_job uuid, kept integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
    withdrawn integer;
BEGIN
    UPDATE assets a SET expires_at = now() FROM (
        SELECT m.id FROM assets m
        WHERE m.job_id = of_job AND (m.expires_at IS NULL OR m.expires_at > now())
          AND coalesce(m.attempt, (SELECT o.attempt FROM job_outputs o WHERE o.asset_id = m.id), 0) > kept
        ORDER BY m.id FOR NO KEY UPDATE
    ) locked WHERE a.id = locked.id;
    DELETE FROM job_outputs o USING assets a
    WHERE o.job_id = of_job AND a.id = o.asset_id AND coalesce(a.attempt, o.attempt) > kept;
    GET DIAGNOSTICS withdrawn = ROW_COUNT;
    RETURN withdrawn;
END
$function$;

CREATE TABLE account_queues (
    pool_id text NOT NULL,
    account_id uuid NOT NULL,
    waiting integer DEFAULT 0 NOT NULL,
    in_flight integer DEFAULT 0 NOT NULL,
    weight integer DEFAULT 1 NOT NULL,
    running_limit integer NOT NULL,
    pass bigint DEFAULT 0 NOT NULL,
    eligible boolean GENERATED ALWAYS AS (((waiting > 0) AND (in_flight < running_limit))) STORED NOT NULL,
    busy boolean GENERATED ALWAYS AS ((waiting > 0)) STORED NOT NULL,
    head_id uuid,
    CONSTRAINT account_queues_pkey PRIMARY KEY (pool_id, account_id),
    CONSTRAINT account_queues_counters_check CHECK (((waiting >= 0) AND (in_flight >= 0))),
    CONSTRAINT account_queues_weight_check CHECK (((weight >= 1) AND (weight <= 1000)))
) WITH (fillfactor=10);

CREATE TABLE account_storage (
    account_id uuid NOT NULL,
    stored_bytes bigint DEFAULT 0 NOT NULL,
    CONSTRAINT account_storage_pkey PRIMARY KEY (account_id)
) WITH (fillfactor=10);

CREATE TABLE account_turns (
    pool_id text NOT NULL,
    eligible boolean NOT NULL,
    pass bigint NOT NULL,
    account_id uuid NOT NULL,
    CONSTRAINT account_turns_pkey PRIMARY KEY (pool_id, eligible, pass, account_id)
);

CREATE TABLE accounts (
    id uuid NOT NULL,
    name text NOT NULL,
    kind text DEFAULT 'customer'::text NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    plan text DEFAULT 'standard'::text NOT NULL,
    weight integer DEFAULT 1 NOT NULL,
    running_limit integer,
    queue_limit integer,
    requests_per_minute integer,
    stream_limit integer,
    upload_bytes_per_day bigint,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    storage_bytes bigint,
    deployment_limit integer,
    deployment_worker_limit integer,
    submission_defaults jsonb,
    closed_at timestamp(3) with time zone,
    allowed_addresses text[] DEFAULT '{}'::text[] NOT NULL,
    key_max_age_seconds integer,
    developer_mails_on date,
    developer_mails integer DEFAULT 0 NOT NULL,
    CONSTRAINT accounts_pkey PRIMARY KEY (id),
    CONSTRAINT accounts_closed_check CHECK (((closed_at IS NULL) OR (status = 'suspended'::text))),
    CONSTRAINT accounts_kind_check CHECK ((kind = ANY (ARRAY['customer'::text, 'demo'::text, 'demo_network'::text, 'self_hosted'::text]))),
    CONSTRAINT accounts_limits_check CHECK (((running_limit > 0) AND (queue_limit >= 0) AND (requests_per_minute > 0) AND (stream_limit >= 0) AND (upload_bytes_per_day >= 0))),
    CONSTRAINT accounts_status_check CHECK ((status = ANY (ARRAY['active'::text, 'suspended'::text]))),
    CONSTRAINT accounts_storage_bytes_check CHECK ((storage_bytes > 0)),
    CONSTRAINT accounts_weight_check CHECK (((weight >= 1) AND (weight <= 1000)))
);

CREATE TABLE api_keys (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    name text NOT NULL,
    key_hash bytea NOT NULL,
    last_four text NOT NULL,
    scopes text[],
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    expires_at timestamp(3) with time zone,
    revoked_at timestamp(3) with time zone,
    last_used_at timestamp(3) with time zone,
    rotated_to uuid,
    parent_id uuid,
    labels jsonb,
    expiry_notice_days smallint,
    allowed_addresses text[] DEFAULT '{}'::text[] NOT NULL,
    expires_by_age boolean DEFAULT false NOT NULL,
    asked_expires_at timestamp(3) with time zone,
    member_id uuid,
    is_session_key boolean DEFAULT false NOT NULL,
    spend_keys uuid[],
    CONSTRAINT api_keys_pkey PRIMARY KEY (id),
    CONSTRAINT api_keys_key_hash_check CHECK ((length(key_hash) = 32)),
    CONSTRAINT api_keys_spend_keys_check CHECK ((cardinality(spend_keys) > 0))
);

CREATE TABLE assets (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    hash text NOT NULL,
    size_bytes bigint NOT NULL,
    content_type text NOT NULL,
    file_path text,
    tags text[] DEFAULT ARRAY[]::text[],
    job_id uuid,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    expires_at timestamp(3) with time zone,
    labels jsonb,
    attempt smallint,
    CONSTRAINT assets_pkey PRIMARY KEY (id)
);

CREATE TABLE audit_log (
    id uuid NOT NULL,
    at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    subject_type text NOT NULL,
    subject_id text NOT NULL,
    account_id uuid,
    address text,
    details jsonb DEFAULT '{}'::jsonb NOT NULL,
    reason text,
    segment bigint,
    salt bytea,
    content_digest bytea,
    digest bytea,
    CONSTRAINT audit_log_pkey PRIMARY KEY (id)
);

CREATE TABLE audit_segments (
    no bigint NOT NULL,
    previous_hash bytea NOT NULL,
    hash bytea NOT NULL,
    entries integer NOT NULL,
    first_id uuid NOT NULL,
    last_id uuid NOT NULL,
    first_at timestamp(3) with time zone NOT NULL,
    last_at timestamp(3) with time zone NOT NULL,
    sealed_at timestamp(3) with time zone NOT NULL,
    exported_at timestamp(3) with time zone,
    object_key text,
    CONSTRAINT audit_segments_pkey PRIMARY KEY (no),
    CONSTRAINT audit_segments_entries_check CHECK (((entries >= 1) AND (entries <= 10000))),
    CONSTRAINT audit_segments_exported_check CHECK (((exported_at IS NULL) = (object_key IS NULL))),
    CONSTRAINT audit_segments_hash_check CHECK (((length(hash) = 32) AND (length(previous_hash) = 32))),
    CONSTRAINT audit_segments_no_check CHECK ((no > 0))
);

CREATE TABLE balances (
    account_id uuid NOT NULL,
    available_micros bigint DEFAULT 0 NOT NULL,
    held_micros bigint DEFAULT 0 NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    consumed_micros bigint DEFAULT 0 NOT NULL,
    drawn_micros bigint DEFAULT 0 NOT NULL,
    alert_below_micros bigint DEFAULT 5000000 NOT NULL,
    alerted_at timestamp(3) with time zone,
    anomaly_hour timestamp(3) with time zone,
    spend_mail_at timestamp(3) with time zone,
    CONSTRAINT balances_pkey PRIMARY KEY (account_id),
    CONSTRAINT balances_drawn_check CHECK (((drawn_micros >= 0) AND (drawn_micros <= consumed_micros))),
    CONSTRAINT balances_never_negative_check CHECK (((available_micros >= 0) AND (held_micros >= 0)))
) WITH (fillfactor=10);

CREATE TABLE batch_retries (
    batch_id uuid NOT NULL,
    idempotency_key text NOT NULL,
    request_hash bytea NOT NULL,
    job_count integer NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    CONSTRAINT batch_retries_pkey PRIMARY KEY (batch_id, idempotency_key)
);

CREATE TABLE batches (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    surface text NOT NULL,
    deployment_id uuid,
    idempotency_key text,
    request_hash bytea NOT NULL,
    item_count integer NOT NULL,
    job_count integer NOT NULL,
    refused jsonb DEFAULT '[]'::jsonb NOT NULL,
    canceling boolean DEFAULT false NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    completed_at timestamp(3) with time zone,
    retries integer DEFAULT 0 NOT NULL,
    labels jsonb,
    CONSTRAINT batches_pkey PRIMARY KEY (id),
    CONSTRAINT batches_count_check CHECK (((job_count >= 0) AND (item_count >= job_count) AND (item_count > 0))),
    CONSTRAINT batches_surface_check CHECK (((surface = 'deployment'::text) = (deployment_id IS NOT NULL)))
);

CREATE TABLE blobs (
    account_id uuid NOT NULL,
    hash text NOT NULL,
    size_bytes bigint NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    orphaned_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP,
    lost_at timestamp(3) with time zone,
    damaged_at timestamp(3) with time zone,
    CONSTRAINT blobs_pkey PRIMARY KEY (account_id, hash),
    CONSTRAINT blobs_hash_check CHECK ((hash ~ '^blake3:[0-9a-f]{64}$'::text)),
    CONSTRAINT blobs_size_check CHECK ((size_bytes >= 0))
);

CREATE TABLE catalogues (
    digest text NOT NULL,
    engine text NOT NULL,
    node_count integer NOT NULL,
    document text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    CONSTRAINT catalogues_pkey PRIMARY KEY (digest)
);

CREATE TABLE console_sessions (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    api_key_id uuid,
    secret_hash bytea NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT console_sessions_pkey PRIMARY KEY (id)
);

CREATE TABLE credit_lots (
    transaction_id uuid NOT NULL,
    account_id uuid NOT NULL,
    remaining_micros bigint NOT NULL,
    drawn_micros bigint DEFAULT 0 NOT NULL,
    expires_at timestamp(3) with time zone,
    CONSTRAINT credit_lots_pkey PRIMARY KEY (transaction_id),
    CONSTRAINT credit_lots_amounts_check CHECK (((remaining_micros >= 0) AND (drawn_micros >= 0)))
);

CREATE TABLE deployment_versions (
    deployment_id uuid NOT NULL,
    number integer NOT NULL,
    pool_id text NOT NULL,
    engine_class text,
    price_micros_per_second bigint,
    warm_up text,
    min_workers integer NOT NULL,
    max_workers integer NOT NULL,
    idle_seconds integer NOT NULL,
    weight integer NOT NULL,
    first_ready_at timestamp(3) with time zone,
    wanted_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    ended_at timestamp(3) with time zone,
    models jsonb DEFAULT '[]'::jsonb NOT NULL,
    moved_by_operator boolean DEFAULT false NOT NULL,
    CONSTRAINT deployment_versions_pkey PRIMARY KEY (deployment_id, number),
    CONSTRAINT deployment_versions_weight_check CHECK (((weight >= 0) AND (weight <= 100)))
);

CREATE TABLE deployments (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    name text NOT NULL,
    demo boolean DEFAULT false NOT NULL,
    pool_id text NOT NULL,
    desired_state text DEFAULT 'running'::text NOT NULL,
    price_micros_per_second bigint,
    min_workers integer DEFAULT 0 NOT NULL,
    max_workers integer DEFAULT 1 NOT NULL,
    first_ready_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    started_at timestamp(3) with time zone,
    stopped_at timestamp(3) with time zone,
    wanted_at timestamp(3) with time zone,
    engine_class text,
    idle_seconds integer DEFAULT 300 NOT NULL,
    deleting_at timestamp(3) with time zone,
    deleted_at timestamp(3) with time zone,
    warm_up text,
    models jsonb DEFAULT '[]'::jsonb NOT NULL,
    moved_by_operator boolean DEFAULT false NOT NULL,
    CONSTRAINT deployments_pkey PRIMARY KEY (id),
    CONSTRAINT deployments_desired_state_check CHECK ((desired_state = ANY (ARRAY['running'::text, 'stopped'::text]))),
    CONSTRAINT deployments_price_check CHECK ((price_micros_per_second >= 0)),
    CONSTRAINT deployments_workers_check CHECK (((0 <= min_workers) AND (min_workers <= max_workers)))
);

CREATE TABLE engine_classes (
    name text NOT NULL,
    spec jsonb NOT NULL,
    revision text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    retired_at timestamp(3) with time zone,
    CONSTRAINT engine_classes_pkey PRIMARY KEY (name)
);

CREATE TABLE erasures (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    subject text NOT NULL,
    job_id uuid,
    label text,
    value text,
    pseudonym text NOT NULL,
    state text DEFAULT 'requested'::text NOT NULL,
    step text DEFAULT ''::text NOT NULL,
    place text,
    counts jsonb DEFAULT '{}'::jsonb NOT NULL,
    lease_token uuid,
    lease_expires_at timestamp(3) with time zone,
    due_at timestamp(3) with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    requested_by text NOT NULL,
    requested_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    started_at timestamp(3) with time zone,
    done_at timestamp(3) with time zone,
    CONSTRAINT erasures_pkey PRIMARY KEY (id),
    CONSTRAINT erasures_done_check CHECK ((((state = 'done'::text) = (done_at IS NOT NULL)) AND ((state <> 'done'::text) OR (value IS NULL)) AND ((state = 'done'::text) OR (subject <> 'label'::text) OR ((label IS NOT NULL) AND (value IS NOT NULL))))),
    CONSTRAINT erasures_lease_check CHECK ((((lease_token IS NULL) = (lease_expires_at IS NULL)) AND ((state = 'running'::text) OR (lease_token IS NULL)))),
    CONSTRAINT erasures_state_check CHECK ((state = ANY (ARRAY['requested'::text, 'running'::text, 'done'::text]))),
    CONSTRAINT erasures_subject_check CHECK (((subject = ANY (ARRAY['job'::text, 'label'::text, 'account'::text])) AND ((subject = 'job'::text) = (job_id IS NOT NULL)) AND ((subject = 'label'::text) OR ((label IS NULL) AND (value IS NULL)))))
);

CREATE TABLE export_attempts (
    delivery_id uuid NOT NULL,
    attempt integer NOT NULL,
    at timestamp(3) with time zone DEFAULT now() NOT NULL,
    error text,
    duration_ms integer NOT NULL,
    CONSTRAINT export_attempts_pkey PRIMARY KEY (delivery_id, attempt)
);

CREATE TABLE export_deliveries (
    id uuid DEFAULT new_job_id() NOT NULL,
    account_id uuid NOT NULL,
    day date,
    state text DEFAULT 'pending'::text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    due_at timestamp(3) with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    ended_at timestamp(3) with time zone,
    location text,
    usage_rows bigint,
    usage_micros bigint,
    ledger_rows bigint,
    ledger_micros bigint,
    usage_sha256 bytea,
    ledger_sha256 bytea,
    CONSTRAINT export_deliveries_pkey PRIMARY KEY (id),
    CONSTRAINT export_deliveries_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text]))),
    CONSTRAINT export_deliveries_sums_check CHECK (((state <> 'delivered'::text) OR (day IS NULL) OR (num_nulls(usage_rows, usage_micros, ledger_rows, ledger_micros, usage_sha256, ledger_sha256, location) = 0))),
    CONSTRAINT export_deliveries_tries_check CHECK (((tries >= 0) AND (attempt >= tries)))
);

CREATE TABLE export_destinations (
    account_id uuid NOT NULL,
    bucket text,
    region text,
    endpoint text,
    access_key_id text,
    sealed_secret bytea,
    prefix text DEFAULT ''::text NOT NULL,
    revision integer DEFAULT 1 NOT NULL,
    next_day date NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    failing_since timestamp(3) with time zone,
    disabled_at timestamp(3) with time zone,
    disabled_reason text,
    CONSTRAINT export_destinations_pkey PRIMARY KEY (account_id),
    CONSTRAINT export_destinations_bucket_check CHECK (((num_nulls(bucket, region, access_key_id, sealed_secret) = ANY (ARRAY[0, 4])) AND ((bucket IS NOT NULL) OR (endpoint IS NULL)))),
    CONSTRAINT export_destinations_disabled_check CHECK (((disabled_at IS NULL) = (disabled_reason IS NULL))),
    CONSTRAINT export_destinations_reason_check CHECK ((disabled_reason = ANY (ARRAY['by_owner'::text, 'failing'::text])))
);

CREATE TABLE fleet_groups (
    pool_id text NOT NULL,
    wanted integer NOT NULL,
    running integer NOT NULL,
    phase text NOT NULL,
    reason text,
    failures integer DEFAULT 0 NOT NULL,
    failure text,
    next_try_at timestamp(3) with time zone,
    surplus_since timestamp(3) with time zone,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    stuck boolean DEFAULT false NOT NULL,
    CONSTRAINT fleet_groups_pkey PRIMARY KEY (pool_id),
    CONSTRAINT fleet_groups_counts_check CHECK (((wanted >= 0) AND (running >= 0) AND (failures >= 0))),
    CONSTRAINT fleet_groups_phase_check CHECK ((phase = ANY (ARRAY['idle'::text, 'starting'::text, 'running'::text, 'stopping'::text, 'failed'::text])))
);

CREATE TABLE fleet_leases (
    name text NOT NULL,
    holder uuid NOT NULL,
    fence bigint NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT fleet_leases_pkey PRIMARY KEY (name)
);

CREATE TABLE idempotency_keys (
    account_id uuid NOT NULL,
    operation text NOT NULL,
    key text NOT NULL,
    subject_id uuid NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (account_id, operation, key),
    CONSTRAINT idempotency_keys_operation_check CHECK ((operation = ANY (ARRAY['postJobs'::text, 'postAssets'::text])))
);

CREATE TABLE invitation_mails (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    address_hash bytea NOT NULL,
    sent_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    CONSTRAINT invitation_mails_pkey PRIMARY KEY (id)
);

CREATE TABLE invitations (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    email text NOT NULL,
    role text NOT NULL,
    token_hash bytea NOT NULL,
    invited_by text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT invitations_pkey PRIMARY KEY (id),
    CONSTRAINT invitations_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'developer'::text, 'finance'::text, 'viewer'::text])))
);

CREATE TABLE job_attempts (
    job_id uuid NOT NULL,
    attempt smallint NOT NULL,
    worker_id uuid NOT NULL,
    claimed_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    ended_at timestamp(3) with time zone,
    outcome text,
    engine_ms bigint,
    nodes jsonb,
    error jsonb,
    billed_ms bigint,
    CONSTRAINT job_attempts_pkey PRIMARY KEY (job_id, attempt),
    CONSTRAINT job_attempts_billed_ms_check CHECK ((billed_ms >= 0)),
    CONSTRAINT job_attempts_ended_check CHECK (((outcome IS NULL) = (ended_at IS NULL))),
    CONSTRAINT job_attempts_engine_ms_check CHECK ((engine_ms >= 0)),
    CONSTRAINT job_attempts_outcome_check CHECK ((outcome = ANY (ARRAY['succeeded'::text, 'failed'::text, 'canceled'::text, 'expired'::text, 'lost'::text, 'handed_back'::text])))
);

CREATE TABLE job_count_progress (
    name text NOT NULL,
    at timestamp(3) with time zone NOT NULL,
    job_id uuid NOT NULL,
    seq integer NOT NULL,
    CONSTRAINT job_count_progress_pkey PRIMARY KEY (name)
);

CREATE TABLE job_graphs (
    job_id uuid NOT NULL,
    workflow text NOT NULL,
    node_count integer NOT NULL,
    work_key bigint,
    reuse_key bytea,
    CONSTRAINT job_graphs_pkey PRIMARY KEY (job_id)
);

CREATE TABLE job_inputs (
    job_id uuid NOT NULL,
    asset_id uuid NOT NULL,
    CONSTRAINT job_inputs_pkey PRIMARY KEY (job_id, asset_id)
);

CREATE TABLE job_logs (
    job_id uuid NOT NULL,
    text text NOT NULL,
    truncated boolean NOT NULL,
    complete boolean NOT NULL,
    captured_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT job_logs_pkey PRIMARY KEY (job_id)
);

CREATE TABLE job_outputs (
    job_id uuid NOT NULL,
    node_id text NOT NULL,
    node_index integer NOT NULL,
    attempt smallint NOT NULL,
    ordinal integer NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    asset_id uuid NOT NULL,
    CONSTRAINT job_outputs_pkey PRIMARY KEY (job_id, node_id, node_index),
    CONSTRAINT job_outputs_type_check CHECK ((type = ANY (ARRAY['image'::text, 'video'::text, 'audio'::text, 'text'::text, 'file'::text, 'latent'::text])))
);

CREATE TABLE job_transitions (
    job_id uuid NOT NULL,
    seq integer NOT NULL,
    from_status text,
    to_status text NOT NULL,
    attempt smallint NOT NULL,
    cause text NOT NULL,
    worker_id uuid,
    at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    CONSTRAINT job_transitions_pkey PRIMARY KEY (job_id, seq)
);

CREATE TABLE jobs (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    pool_id text NOT NULL,
    surface text NOT NULL,
    deployment_id uuid,
    api_key_id uuid,
    status text DEFAULT 'queued'::text NOT NULL,
    delivery text DEFAULT 'waiting'::text NOT NULL,
    priority smallint DEFAULT 0 NOT NULL,
    attempt smallint DEFAULT 0 NOT NULL,
    max_attempts smallint NOT NULL,
    seq integer DEFAULT 1 NOT NULL,
    lease_token uuid,
    lease_expires_at timestamp(3) with time zone,
    worker_id uuid,
    dispatched_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    started_at timestamp(3) with time zone,
    completed_at timestamp(3) with time zone,
    deadline_at timestamp(3) with time zone NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    has_secrets boolean DEFAULT false NOT NULL,
    price_micros_per_second bigint DEFAULT 0 NOT NULL,
    held_micros bigint DEFAULT 0 NOT NULL,
    charged_micros bigint,
    billable_ms bigint DEFAULT 0 NOT NULL,
    progress jsonb,
    error jsonb,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    traceparent text,
    engine_ms bigint DEFAULT 0 NOT NULL,
    models text[],
    lost_engine_ms bigint DEFAULT 0 NOT NULL,
    batch_id uuid,
    batch_index integer,
    spend_limit_micros bigint,
    retry_max smallint DEFAULT 0 NOT NULL,
    retry_codes text[],
    retry_pause_seconds integer DEFAULT 0 NOT NULL,
    retries smallint DEFAULT 0 NOT NULL,
    retry_at timestamp(3) with time zone,
    reused_from uuid,
    cached_nodes integer,
    limited_labels text[],
    room_bytes bigint,
    CONSTRAINT jobs_pkey PRIMARY KEY (id)
) WITH (fillfactor=70);

CREATE TABLE label_rules (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    label text NOT NULL,
    value text,
    max_jobs integer,
    daily_micros bigint,
    monthly_micros bigint,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    retention_seconds integer,
    daily_at_cap text,
    monthly_at_cap text,
    CONSTRAINT label_rules_pkey PRIMARY KEY (id),
    CONSTRAINT label_rules_at_cap_check CHECK (((daily_at_cap = ANY (ARRAY['stop'::text, 'finish'::text])) AND (monthly_at_cap = ANY (ARRAY['stop'::text, 'finish'::text])))),
    CONSTRAINT label_rules_limits_check CHECK (((max_jobs >= 0) AND (daily_micros >= 0) AND (monthly_micros >= 0)))
);

CREATE TABLE label_use (
    account_id uuid NOT NULL,
    label text NOT NULL,
    value text NOT NULL,
    live integer DEFAULT 0 NOT NULL,
    held_micros bigint DEFAULT 0 NOT NULL,
    day date,
    day_micros bigint DEFAULT 0 NOT NULL,
    month_micros bigint DEFAULT 0 NOT NULL,
    day_warned smallint DEFAULT 0 NOT NULL,
    month_warned smallint DEFAULT 0 NOT NULL,
    warned_on date,
    day_stopped_on date,
    month_stopped_on date,
    day_mail smallint DEFAULT 0 NOT NULL,
    day_mail_on date,
    month_mail smallint DEFAULT 0 NOT NULL,
    month_mail_on date,
    CONSTRAINT label_use_pkey PRIMARY KEY (account_id, label, value),
    CONSTRAINT label_use_counts_check CHECK (((live >= 0) AND (held_micros >= 0) AND (day_micros >= 0) AND (month_micros >= 0)))
) WITH (fillfactor=70);

CREATE TABLE ledger_audit_progress (
    name text NOT NULL,
    account_id uuid NOT NULL,
    reached_at timestamp(3) with time zone,
    available_micros bigint DEFAULT 0 NOT NULL,
    held_micros bigint DEFAULT 0 NOT NULL,
    consumed_micros bigint DEFAULT 0 NOT NULL,
    transactions bigint DEFAULT 0 NOT NULL,
    findings integer DEFAULT 0 NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    day_sums jsonb,
    CONSTRAINT ledger_audit_progress_pkey PRIMARY KEY (name)
);

CREATE TABLE ledger_days (
    account_id uuid NOT NULL,
    ends timestamp(3) with time zone NOT NULL,
    grants_micros bigint NOT NULL,
    top_ups_micros bigint NOT NULL,
    charges_micros bigint NOT NULL,
    expiries_micros bigint NOT NULL,
    corrections_micros bigint NOT NULL,
    closing_micros bigint NOT NULL,
    CONSTRAINT ledger_days_pkey PRIMARY KEY (account_id, ends)
);

CREATE TABLE ledger_entries (
    transaction_id uuid NOT NULL,
    line smallint NOT NULL,
    from_book text NOT NULL,
    to_book text NOT NULL,
    amount_micros bigint NOT NULL,
    CONSTRAINT ledger_entries_pkey PRIMARY KEY (transaction_id, line)
);

CREATE TABLE ledger_transactions (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    kind text NOT NULL,
    job_id uuid,
    cause text NOT NULL,
    corrects uuid,
    actor text NOT NULL,
    reason text,
    expires_at timestamp(3) with time zone,
    at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    CONSTRAINT ledger_transactions_pkey PRIMARY KEY (id)
);

CREATE TABLE mail_messages (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    sealed bytea NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    due_at timestamp(3) with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT mail_messages_pkey PRIMARY KEY (id)
);

CREATE TABLE members (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    email text NOT NULL,
    role text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    removed_at timestamp(3) with time zone,
    CONSTRAINT members_pkey PRIMARY KEY (id),
    CONSTRAINT members_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'developer'::text, 'finance'::text, 'viewer'::text])))
);

CREATE TABLE models (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    folder text NOT NULL,
    name text NOT NULL,
    shared boolean DEFAULT false NOT NULL,
    state text NOT NULL,
    problem text,
    format text NOT NULL,
    kind text,
    architecture text,
    parameters bigint,
    size_bytes bigint,
    received_bytes bigint DEFAULT 0 NOT NULL,
    digest text,
    expected_hash text,
    licence text,
    source_url text,
    upload_id uuid,
    asset_id uuid,
    import_attempt integer DEFAULT 0 NOT NULL,
    import_failures integer DEFAULT 0 NOT NULL,
    import_due_at timestamp(3) with time zone,
    import_etag text,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    last_used_at timestamp(3) with time zone,
    ready_at timestamp(3) with time zone,
    failed_at timestamp(3) with time zone,
    import_restarts integer DEFAULT 0 NOT NULL,
    CONSTRAINT models_pkey PRIMARY KEY (id),
    CONSTRAINT models_import_check CHECK (((state = 'importing'::text) = (import_due_at IS NOT NULL))),
    CONSTRAINT models_problem_check CHECK (((state = 'failed'::text) = (problem IS NOT NULL))),
    CONSTRAINT models_ready_check CHECK (((state <> 'ready'::text) OR ((asset_id IS NOT NULL) AND (digest IS NOT NULL) AND (size_bytes IS NOT NULL)))),
    CONSTRAINT models_shared_check CHECK (((NOT shared) OR (state = 'ready'::text))),
    CONSTRAINT models_state_check CHECK ((state = ANY (ARRAY['uploading'::text, 'importing'::text, 'ready'::text, 'failed'::text])))
);

CREATE TABLE operator_sessions (
    id uuid NOT NULL,
    secret_hash bytea NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    actor text,
    role text,
    token_id uuid,
    CONSTRAINT operator_sessions_pkey PRIMARY KEY (id),
    CONSTRAINT operator_sessions_named_check CHECK (((actor IS NULL) = (role IS NULL))),
    CONSTRAINT operator_sessions_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'operator'::text, 'finance'::text, 'admin'::text])))
);

CREATE TABLE operator_tokens (
    id uuid NOT NULL,
    name text NOT NULL,
    role text NOT NULL,
    secret_hash bytea NOT NULL,
    created_by text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    last_used_at timestamp(3) with time zone,
    revoked_at timestamp(3) with time zone,
    CONSTRAINT operator_tokens_pkey PRIMARY KEY (id),
    CONSTRAINT operator_tokens_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'operator'::text, 'finance'::text, 'admin'::text])))
);

CREATE TABLE payment_events (
    provider text NOT NULL,
    id text NOT NULL,
    kind text NOT NULL,
    top_up_id uuid,
    received_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    CONSTRAINT payment_events_pkey PRIMARY KEY (provider, id)
);

CREATE TABLE payment_reversals (
    provider text NOT NULL,
    id text NOT NULL,
    payment_ref text NOT NULL,
    amount_minor bigint NOT NULL,
    currency text NOT NULL,
    undone boolean NOT NULL,
    CONSTRAINT payment_reversals_pkey PRIMARY KEY (provider, id),
    CONSTRAINT payment_reversals_amount_check CHECK ((amount_minor >= 0))
);

CREATE TABLE pools (
    id text NOT NULL,
    engine text NOT NULL,
    catalogue_digest text,
    look_ahead integer DEFAULT 2 NOT NULL,
    queue_limit integer,
    virtual_time bigint DEFAULT 0 NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    attempt_limit_seconds integer,
    CONSTRAINT pools_pkey PRIMARY KEY (id),
    CONSTRAINT pools_attempt_limit_seconds_check CHECK ((attempt_limit_seconds > 0)),
    CONSTRAINT pools_engine_check CHECK ((engine = ANY (ARRAY['cpu'::text, 'comfyui'::text]))),
    CONSTRAINT pools_look_ahead_check CHECK ((look_ahead >= 0))
) WITH (fillfactor=10);

CREATE TABLE resumable_uploads (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    handle text NOT NULL,
    size_bytes bigint NOT NULL,
    part_bytes integer NOT NULL,
    fields jsonb NOT NULL,
    held_until timestamp(3) with time zone,
    asset_id uuid,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT resumable_uploads_pkey PRIMARY KEY (id),
    CONSTRAINT resumable_uploads_sizes CHECK (((size_bytes > 0) AND (part_bytes > 0)))
);

CREATE TABLE sign_in_links (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    api_key_id uuid,
    token_hash bytea NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    browser_hash bytea,
    network_hash bytea,
    CONSTRAINT sign_in_links_pkey PRIMARY KEY (id)
);

CREATE TABLE sign_in_requests (
    id uuid NOT NULL,
    sealed bytea NOT NULL,
    browser_hash bytea NOT NULL,
    network_hash bytea NOT NULL,
    requested_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT sign_in_requests_pkey PRIMARY KEY (id)
);

CREATE TABLE storage_reservations (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    size_bytes bigint NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT storage_reservations_pkey PRIMARY KEY (id),
    CONSTRAINT storage_reservations_size_check CHECK ((size_bytes >= 0))
);

CREATE TABLE top_ups (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    provider text NOT NULL,
    status text DEFAULT 'open'::text NOT NULL,
    amount_micros bigint NOT NULL,
    price_minor bigint NOT NULL,
    currency text NOT NULL,
    checkout_ref text,
    checkout_url text,
    payment_ref text,
    transaction_id uuid,
    owed_micros bigint DEFAULT 0 NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    paid_at timestamp(3) with time zone,
    CONSTRAINT top_ups_pkey PRIMARY KEY (id),
    CONSTRAINT top_ups_amounts_check CHECK (((amount_micros > 0) AND (price_minor > 0) AND ((owed_micros >= 0) AND (owed_micros <= amount_micros)))),
    CONSTRAINT top_ups_currency_check CHECK ((currency ~ '^[a-z]{3}$'::text)),
    CONSTRAINT top_ups_paid_check CHECK ((((status = 'paid'::text) = (transaction_id IS NOT NULL)) AND ((status = 'paid'::text) = (paid_at IS NOT NULL)))),
    CONSTRAINT top_ups_provider_check CHECK ((provider = 'stripe'::text)),
    CONSTRAINT top_ups_status_check CHECK ((status = ANY (ARRAY['open'::text, 'paid'::text, 'failed'::text, 'expired'::text, 'refused'::text])))
);

CREATE TABLE upload_days (
    account_id uuid NOT NULL,
    day date NOT NULL,
    size_bytes bigint DEFAULT 0 NOT NULL,
    CONSTRAINT upload_days_pkey PRIMARY KEY (account_id, day)
);

CREATE TABLE usage_records (
    job_id uuid NOT NULL,
    account_id uuid NOT NULL,
    api_key_id uuid,
    deployment_id uuid,
    status text NOT NULL,
    billable_ms bigint NOT NULL,
    charged_micros bigint NOT NULL,
    labels jsonb DEFAULT '{}'::jsonb NOT NULL,
    finished_at timestamp(3) with time zone NOT NULL,
    deployment_version integer,
    CONSTRAINT usage_records_pkey PRIMARY KEY (job_id),
    CONSTRAINT usage_records_amounts_check CHECK (((billable_ms >= 0) AND (charged_micros >= 0)))
);

CREATE TABLE webhook_attempts (
    message_id uuid NOT NULL,
    attempt integer NOT NULL,
    at timestamp(3) with time zone DEFAULT now() NOT NULL,
    status integer,
    error text,
    duration_ms integer NOT NULL,
    answer text DEFAULT ''::text NOT NULL,
    CONSTRAINT webhook_attempts_pkey PRIMARY KEY (message_id, attempt)
);

CREATE TABLE webhook_endpoints (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    url text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    event_types text[] NOT NULL,
    origin text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    failing_since timestamp(3) with time zone,
    disabled_at timestamp(3) with time zone,
    disabled_reason text,
    deleted_at timestamp(3) with time zone,
    CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (id),
    CONSTRAINT webhook_endpoints_disabled_check CHECK (((disabled_at IS NULL) = (disabled_reason IS NULL))),
    CONSTRAINT webhook_endpoints_reason_check CHECK ((disabled_reason = ANY (ARRAY['by_owner'::text, 'failing'::text, 'gone'::text])))
);

CREATE TABLE webhook_messages (
    id uuid DEFAULT new_job_id() NOT NULL,
    endpoint_id uuid NOT NULL,
    type text NOT NULL,
    job_id uuid,
    state text DEFAULT 'pending'::text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    due_at timestamp(3) with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    ended_at timestamp(3) with time zone,
    batch_id uuid,
    data jsonb,
    CONSTRAINT webhook_messages_pkey PRIMARY KEY (id),
    CONSTRAINT webhook_messages_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text]))),
    CONSTRAINT webhook_messages_tries_check CHECK (((tries >= 0) AND (attempt >= tries)))
);

CREATE TABLE webhook_secrets (
    id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    sealed bytea NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    expires_at timestamp(3) with time zone,
    CONSTRAINT webhook_secrets_pkey PRIMARY KEY (id)
);

CREATE TABLE worker_tokens (
    id uuid NOT NULL,
    pool_id text NOT NULL,
    name text NOT NULL,
    hash bytea NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    last_used_at timestamp(3) with time zone,
    expires_at timestamp(3) with time zone,
    revoked_at timestamp(3) with time zone,
    CONSTRAINT worker_tokens_pkey PRIMARY KEY (id),
    CONSTRAINT worker_tokens_hash_check CHECK ((octet_length(hash) = 32)),
    CONSTRAINT worker_tokens_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200)))
);

CREATE TABLE workers (
    id uuid NOT NULL,
    pool_id text NOT NULL,
    engine text NOT NULL,
    version text NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL,
    state text DEFAULT 'starting'::text NOT NULL,
    capacity integer DEFAULT 1 NOT NULL,
    resident_models text[] DEFAULT ARRAY[]::text[],
    problem text,
    started_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    last_seen_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    stopped_at timestamp(3) with time zone,
    ready_at timestamp(3) with time zone,
    attempt_ms integer,
    draining_at timestamp(3) with time zone,
    token_id uuid,
    disk_models text[] DEFAULT '{}'::text[] NOT NULL,
    schedule_ms integer,
    pull_ms integer,
    boot_ms integer,
    models_ms integer,
    warm_up_ms integer,
    model_cache_bytes bigint,
    sick_since timestamp(3) with time zone,
    models_note text,
    CONSTRAINT workers_pkey PRIMARY KEY (id),
    CONSTRAINT workers_capacity_check CHECK ((capacity > 0)),
    CONSTRAINT workers_state_check CHECK ((state = ANY (ARRAY['starting'::text, 'ready'::text, 'draining'::text, 'stopped'::text]))),
    CONSTRAINT workers_stopped_check CHECK (((state = 'stopped'::text) = (stopped_at IS NOT NULL)))
) WITH (fillfactor=50);

CREATE OR REPLACE FUNCTION public.keeps_rules(entry ledger_entries)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
DECLARE
    broken CONSTANT text := CASE
        WHEN NOT (entry.from_book <> entry.to_book
                AND entry.from_book IN ('available', 'held', 'revenue', 'promotions', 'payments')
                AND entry.to_book IN ('available', 'held', 'revenue', 'promotions', 'payments'))
            THEN 'ledger_entries_books_check'
        WHEN NOT (entry.amount_micros > 0)
            THEN 'ledger_entries_amount_check'
    END;
BEGIN
    IF broken IS NOT NULL THEN
        PERFORM refuse_row('ledger_entries', broken);
    END IF;
    RETURN true;
END
$function$;

CREATE OR REPLACE FUNCTION public.keeps_rules(job jobs)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
DECLARE
    is_done CONSTANT boolean := job.delivery = 'done';
    -- As with a CHECK, what is unknown breaks no rule.
    broken CONSTANT text := CASE
        WHEN NOT (job.status IN ('queued', 'running', 'succeeded', 'canceling', 'canceled', 'failed', 'expired'))
            THEN 'jobs_status_check'
        WHEN NOT (job.delivery IN ('waiting', 'dispatched', 'leased', 'paused', 'done'))
            THEN 'jobs_delivery_check'
        WHEN NOT (is_done = (job.status IN ('succeeded', 'canceled', 'failed', 'expired')))
            THEN 'jobs_done_check'
        WHEN NOT (is_done = (job.completed_at IS NOT NULL))
            THEN 'jobs_completed_check'
        WHEN NOT (job.attempt >= 0 AND job.attempt <= job.max_attempts
                AND (job.attempt = 0) = (job.started_at IS NULL)
                AND (job.status <> 'queued' OR job.attempt = 0)
                AND (job.status NOT IN ('running', 'canceling', 'succeeded', 'failed') OR job.attempt > 0
                    OR (job.status = 'succeeded' AND job.reused_from IS NOT NULL)))
            THEN 'jobs_attempt_check'
        WHEN NOT ((job.delivery = 'leased') = (job.lease_token IS NOT NULL)
                AND (job.delivery = 'leased') = (job.lease_expires_at IS NOT NULL)
                AND (job.delivery <> 'leased' OR job.worker_id IS NOT NULL))
            THEN 'jobs_lease_check'
        WHEN NOT (job.price_micros_per_second >= 0 AND job.held_micros >= 0 AND job.billable_ms >= 0
                AND job.charged_micros >= 0 AND job.charged_micros <= job.held_micros
                AND is_done = (job.charged_micros IS NOT NULL))
            THEN 'jobs_money_check'
        WHEN NOT (job.engine_ms >= 0)
            THEN 'jobs_engine_ms_check'
        WHEN NOT (job.lost_engine_ms >= 0)
            THEN 'jobs_lost_engine_ms_check'
        WHEN NOT ((job.error IS NULL OR job.status IN ('failed', 'expired')) AND (job.status <> 'failed' OR job.error IS NOT NULL))
            THEN 'jobs_error_check'
        WHEN NOT (job.retries >= 0 AND job.retries <= job.retry_max
                AND (job.delivery <> 'paused' OR (job.retry_at IS NOT NULL AND job.retries > 0)))
            THEN 'jobs_retries_check'
        WHEN NOT (job.reused_from IS NULL
                OR (job.status = 'succeeded' AND job.attempt = 0 AND job.held_micros = 0 AND job.billable_ms = 0))
            THEN 'jobs_reuse_check'
        WHEN NOT (job.surface IN ('self_hosted', 'cloud', 'deployment')
                AND (job.surface = 'deployment') = (job.deployment_id IS NOT NULL))
            THEN 'jobs_surface_check'
        WHEN NOT (job.deadline_at <= job.expires_at)
            THEN 'jobs_deadline_check'
    END;
BEGIN
    IF broken IS NOT NULL THEN
        PERFORM refuse_row('jobs', broken);
    END IF;
    RETURN true;
END
$function$;

CREATE OR REPLACE FUNCTION public.keeps_rules(line job_transitions)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
DECLARE
    broken CONSTANT text := CASE
        WHEN NOT ((line.seq = 1) = (line.from_status IS NULL))
            THEN 'job_transitions_seq_check'
        WHEN NOT (coalesce(line.from_status, '') || '>' || line.to_status IN (
                '>queued', 'queued>running', 'queued>canceled', 'queued>expired', 'queued>succeeded', 'running>succeeded',
                'running>failed', 'running>expired', 'running>canceling', 'canceling>canceled'))
            THEN 'job_transitions_table_check'
    END;
BEGIN
    IF broken IS NOT NULL THEN
        PERFORM refuse_row('job_transitions', broken);
    END IF;
    RETURN true;
END
$function$;

CREATE OR REPLACE FUNCTION public.keeps_rules(posting ledger_transactions)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
DECLARE
    broken CONSTANT text := CASE
        WHEN NOT (posting.kind IN ('grant', 'top_up', 'hold', 'extend_hold', 'settle', 'release', 'expire', 'correction'))
            THEN 'ledger_transactions_kind_check'
        WHEN NOT ((posting.kind IN ('hold', 'extend_hold', 'settle', 'release')) = (posting.job_id IS NOT NULL)
                OR posting.kind = 'correction')
            THEN 'ledger_transactions_job_check'
        WHEN NOT ((posting.kind IN ('correction', 'expire')) = (posting.corrects IS NOT NULL))
            THEN 'ledger_transactions_corrects_check'
        WHEN NOT (posting.expires_at IS NULL OR posting.kind = 'grant')
            THEN 'ledger_transactions_expires_check'
    END;
BEGIN
    IF broken IS NOT NULL THEN
        PERFORM refuse_row('ledger_transactions', broken);
    END IF;
    RETURN true;
END
$function$;

ALTER TABLE account_queues ADD CONSTRAINT account_queues_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE account_queues ADD CONSTRAINT account_queues_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES pools(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE account_storage ADD CONSTRAINT account_storage_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE api_keys ADD CONSTRAINT api_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE api_keys ADD CONSTRAINT api_keys_member_id_fkey FOREIGN KEY (member_id) REFERENCES members(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE api_keys ADD CONSTRAINT api_keys_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES api_keys(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE api_keys ADD CONSTRAINT api_keys_rotated_to_fkey FOREIGN KEY (rotated_to) REFERENCES api_keys(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE assets ADD CONSTRAINT assets_account_id_hash_fkey FOREIGN KEY (account_id, hash) REFERENCES blobs(account_id, hash) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE balances ADD CONSTRAINT balances_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE batch_retries ADD CONSTRAINT batch_retries_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES batches(id) ON UPDATE RESTRICT ON DELETE CASCADE;
ALTER TABLE batches ADD CONSTRAINT batches_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE blobs ADD CONSTRAINT blobs_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE console_sessions ADD CONSTRAINT console_sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE console_sessions ADD CONSTRAINT console_sessions_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE credit_lots ADD CONSTRAINT credit_lots_account_id_fkey FOREIGN KEY (account_id) REFERENCES balances(account_id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE credit_lots ADD CONSTRAINT credit_lots_transaction_id_fkey FOREIGN KEY (transaction_id) REFERENCES ledger_transactions(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE deployment_versions ADD CONSTRAINT deployment_versions_deployment_id_fkey FOREIGN KEY (deployment_id) REFERENCES deployments(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE deployment_versions ADD CONSTRAINT deployment_versions_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES pools(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE deployments ADD CONSTRAINT deployments_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE deployments ADD CONSTRAINT deployments_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES pools(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE erasures ADD CONSTRAINT erasures_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE export_attempts ADD CONSTRAINT export_attempts_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES export_deliveries(id) ON UPDATE RESTRICT ON DELETE CASCADE;
ALTER TABLE export_deliveries ADD CONSTRAINT export_deliveries_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE CASCADE;
ALTER TABLE export_destinations ADD CONSTRAINT export_destinations_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE CASCADE;
ALTER TABLE fleet_groups ADD CONSTRAINT fleet_groups_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES pools(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE invitation_mails ADD CONSTRAINT invitation_mails_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE invitations ADD CONSTRAINT invitations_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE job_attempts ADD CONSTRAINT job_attempts_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON UPDATE RESTRICT ON DELETE CASCADE;
ALTER TABLE job_graphs ADD CONSTRAINT job_graphs_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON UPDATE RESTRICT ON DELETE CASCADE;
ALTER TABLE job_inputs ADD CONSTRAINT job_inputs_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE job_inputs ADD CONSTRAINT job_inputs_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON UPDATE RESTRICT ON DELETE CASCADE;
ALTER TABLE job_logs ADD CONSTRAINT job_logs_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON UPDATE RESTRICT ON DELETE CASCADE;
ALTER TABLE job_outputs ADD CONSTRAINT job_outputs_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE job_outputs ADD CONSTRAINT job_outputs_index_width_check CHECK (((octet_length(node_id) <= 1024) AND (octet_length(name) <= 1024))) NOT VALID;
ALTER TABLE job_outputs ADD CONSTRAINT job_outputs_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON UPDATE RESTRICT ON DELETE CASCADE;
ALTER TABLE job_transitions ADD CONSTRAINT job_transitions_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON UPDATE RESTRICT ON DELETE CASCADE;
ALTER TABLE job_transitions ADD CONSTRAINT job_transitions_rules_check CHECK (keeps_rules(job_transitions.*));
ALTER TABLE jobs ADD CONSTRAINT jobs_pool_id_account_id_fkey FOREIGN KEY (pool_id, account_id) REFERENCES account_queues(pool_id, account_id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE jobs ADD CONSTRAINT jobs_rules_check CHECK (keeps_rules(jobs.*));
ALTER TABLE label_rules ADD CONSTRAINT label_rules_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE CASCADE;
ALTER TABLE label_use ADD CONSTRAINT label_use_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE ledger_days ADD CONSTRAINT ledger_days_account_id_fkey FOREIGN KEY (account_id) REFERENCES balances(account_id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE ledger_entries ADD CONSTRAINT ledger_entries_rules_check CHECK (keeps_rules(ledger_entries.*));
ALTER TABLE ledger_entries ADD CONSTRAINT ledger_entries_transaction_id_fkey FOREIGN KEY (transaction_id) REFERENCES ledger_transactions(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE ledger_transactions ADD CONSTRAINT ledger_transactions_account_id_fkey FOREIGN KEY (account_id) REFERENCES balances(account_id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE ledger_transactions ADD CONSTRAINT ledger_transactions_corrects_fkey FOREIGN KEY (corrects) REFERENCES ledger_transactions(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE ledger_transactions ADD CONSTRAINT ledger_transactions_rules_check CHECK (keeps_rules(ledger_transactions.*));
ALTER TABLE mail_messages ADD CONSTRAINT mail_messages_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE members ADD CONSTRAINT members_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE models ADD CONSTRAINT models_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE models ADD CONSTRAINT models_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE operator_sessions ADD CONSTRAINT operator_sessions_token_id_fkey FOREIGN KEY (token_id) REFERENCES operator_tokens(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE pools ADD CONSTRAINT pools_catalogue_digest_fkey FOREIGN KEY (catalogue_digest) REFERENCES catalogues(digest) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE resumable_uploads ADD CONSTRAINT resumable_uploads_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE sign_in_links ADD CONSTRAINT sign_in_links_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE sign_in_links ADD CONSTRAINT sign_in_links_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE storage_reservations ADD CONSTRAINT storage_reservations_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE top_ups ADD CONSTRAINT top_ups_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE top_ups ADD CONSTRAINT top_ups_transaction_id_fkey FOREIGN KEY (transaction_id) REFERENCES ledger_transactions(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE upload_days ADD CONSTRAINT upload_days_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE webhook_attempts ADD CONSTRAINT webhook_attempts_message_id_fkey FOREIGN KEY (message_id) REFERENCES webhook_messages(id) ON UPDATE RESTRICT ON DELETE CASCADE;
ALTER TABLE webhook_endpoints ADD CONSTRAINT webhook_endpoints_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE webhook_messages ADD CONSTRAINT webhook_messages_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE webhook_secrets ADD CONSTRAINT webhook_secrets_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE worker_tokens ADD CONSTRAINT worker_tokens_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES pools(id) ON UPDATE RESTRICT ON DELETE RESTRICT;
ALTER TABLE workers ADD CONSTRAINT workers_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES pools(id) ON UPDATE RESTRICT ON DELETE RESTRICT;

CREATE INDEX account_queues_account_id_idx ON public.account_queues USING btree (account_id);
CREATE INDEX accounts_demo_networks_idx ON public.accounts USING btree (id) WHERE (kind = 'demo_network'::text);
CREATE INDEX api_keys_account_id_idx ON public.api_keys USING btree (account_id);
CREATE INDEX api_keys_expiry_idx ON public.api_keys USING btree (expires_at) WHERE ((expires_at IS NOT NULL) AND (revoked_at IS NULL));
CREATE UNIQUE INDEX api_keys_key_hash_key ON public.api_keys USING btree (key_hash);
CREATE INDEX api_keys_live_idx ON public.api_keys USING btree (account_id, (((labels IS NOT NULL))::integer), COALESCE(LEAST(expires_at, revoked_at), 'infinity'::timestamp with time zone)) WHERE (NOT is_session_key);
CREATE INDEX api_keys_member_id_idx ON public.api_keys USING btree (member_id);
CREATE INDEX api_keys_parent_id_idx ON public.api_keys USING btree (parent_id) WHERE (parent_id IS NOT NULL);
CREATE INDEX assets_account_id_hash_idx ON public.assets USING btree (account_id, hash);
CREATE INDEX assets_expiry_idx ON public.assets USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX assets_job_idx ON public.assets USING btree (job_id) WHERE (job_id IS NOT NULL);
CREATE INDEX assets_labels_idx ON public.assets USING gin (labels jsonb_path_ops) WHERE (labels IS NOT NULL);
CREATE INDEX assets_outputs_idx ON public.assets USING btree (account_id, created_at, id) WHERE (job_id IS NOT NULL);
CREATE INDEX assets_uploads_idx ON public.assets USING btree (account_id, created_at, id) WHERE (job_id IS NULL);
CREATE INDEX audit_log_account_id_id_idx ON public.audit_log USING btree (account_id, id);
CREATE INDEX audit_log_segment_idx ON public.audit_log USING btree (segment, id);
CREATE INDEX audit_log_subject_id_id_idx ON public.audit_log USING btree (subject_id, id);
CREATE INDEX audit_segments_unexported_idx ON public.audit_segments USING btree (no) WHERE (exported_at IS NULL);
CREATE INDEX batches_account_idx ON public.batches USING btree (account_id, id DESC);
CREATE INDEX batches_active_idx ON public.batches USING btree (id) WHERE (completed_at IS NULL);
CREATE INDEX batches_canceling_idx ON public.batches USING btree (id) WHERE canceling;
CREATE INDEX batches_expires_at_idx ON public.batches USING btree (expires_at);
CREATE UNIQUE INDEX batches_key ON public.batches USING btree (account_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX batches_labels_idx ON public.batches USING gin (labels jsonb_path_ops) WHERE (labels IS NOT NULL);
CREATE INDEX blobs_orphaned_idx ON public.blobs USING btree (orphaned_at) WHERE (orphaned_at IS NOT NULL);
CREATE INDEX console_sessions_account_id_idx ON public.console_sessions USING btree (account_id, id);
CREATE INDEX console_sessions_api_key_id_idx ON public.console_sessions USING btree (api_key_id);
CREATE INDEX console_sessions_expires_at_idx ON public.console_sessions USING btree (expires_at);
CREATE UNIQUE INDEX console_sessions_secret_hash_key ON public.console_sessions USING btree (secret_hash);
CREATE INDEX credit_lots_account_id_idx ON public.credit_lots USING btree (account_id);
CREATE INDEX credit_lots_expiry_idx ON public.credit_lots USING btree (expires_at) WHERE ((expires_at IS NOT NULL) AND (remaining_micros > 0));
CREATE UNIQUE INDEX deployment_versions_live_key ON public.deployment_versions USING btree (deployment_id) WHERE (ended_at IS NULL);
CREATE UNIQUE INDEX deployment_versions_pool_id_key ON public.deployment_versions USING btree (pool_id);
CREATE INDEX deployments_account_id_idx ON public.deployments USING btree (account_id);
CREATE INDEX deployments_live_idx ON public.deployments USING btree (account_id) WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX deployments_pool_key ON public.deployments USING btree (pool_id) WHERE (pool_id IS NOT NULL);
CREATE INDEX erasures_account_idx ON public.erasures USING btree (account_id, id DESC);
CREATE INDEX erasures_due_idx ON public.erasures USING btree (due_at) WHERE (state <> 'done'::text);
CREATE UNIQUE INDEX erasures_open_key ON public.erasures USING btree (account_id, subject, job_id, label, value) NULLS NOT DISTINCT WHERE (state <> 'done'::text);
CREATE UNIQUE INDEX export_deliveries_day_key ON public.export_deliveries USING btree (account_id, day);
CREATE INDEX export_deliveries_log_idx ON public.export_deliveries USING btree (account_id, id);
CREATE UNIQUE INDEX export_deliveries_test_key ON public.export_deliveries USING btree (account_id) WHERE ((day IS NULL) AND (state = 'pending'::text));
CREATE INDEX export_deliveries_turn_idx ON public.export_deliveries USING btree (account_id, due_at, id) WHERE (state = 'pending'::text);
CREATE INDEX export_destinations_next_day_idx ON public.export_destinations USING btree (next_day) WHERE (disabled_at IS NULL);
CREATE INDEX fleet_groups_busy_idx ON public.fleet_groups USING btree (pool_id) WHERE (phase <> 'idle'::text);
CREATE INDEX idempotency_keys_expires_at_idx ON public.idempotency_keys USING btree (expires_at);
CREATE INDEX invitation_mails_account_id_sent_at_idx ON public.invitation_mails USING btree (account_id, sent_at);
CREATE INDEX invitation_mails_sent_at_idx ON public.invitation_mails USING btree (sent_at);
CREATE UNIQUE INDEX invitations_account_id_email_key ON public.invitations USING btree (account_id, email);
CREATE INDEX invitations_expires_at_idx ON public.invitations USING btree (expires_at);
CREATE UNIQUE INDEX invitations_token_hash_key ON public.invitations USING btree (token_hash);
CREATE INDEX job_graphs_reuse_key_idx ON public.job_graphs USING btree (reuse_key, job_id) WHERE (reuse_key IS NOT NULL);
CREATE INDEX job_graphs_work_key_job_id_idx ON public.job_graphs USING btree (work_key, job_id);
CREATE INDEX job_inputs_asset_id_idx ON public.job_inputs USING btree (asset_id);
CREATE UNIQUE INDEX job_outputs_asset_id_key ON public.job_outputs USING btree (asset_id);
CREATE UNIQUE INDEX job_outputs_name_key ON public.job_outputs USING btree (job_id, attempt, name);
CREATE INDEX job_transitions_moves_idx ON public.job_transitions USING btree (at, job_id, seq) WHERE (to_status <> ALL (ARRAY['queued'::text, 'canceling'::text]));
CREATE INDEX jobs_account_done_idx ON public.jobs USING btree (account_id, status, id DESC) WHERE (delivery = 'done'::text);
CREATE INDEX jobs_account_idx ON public.jobs USING btree (account_id, id DESC) WHERE (deployment_id IS NULL);
CREATE INDEX jobs_account_live_idx ON public.jobs USING btree (account_id, id DESC) WHERE (delivery <> 'done'::text);
CREATE UNIQUE INDEX jobs_batch_key ON public.jobs USING btree (batch_id, batch_index) WHERE (batch_id IS NOT NULL);
CREATE INDEX jobs_batch_live_idx ON public.jobs USING btree (batch_id) WHERE ((batch_id IS NOT NULL) AND (delivery <> 'done'::text));
CREATE INDEX jobs_canceling_idx ON public.jobs USING btree (id) WHERE ((status = 'canceling'::text) AND (delivery = ANY (ARRAY['waiting'::text, 'dispatched'::text])));
CREATE INDEX jobs_deadline_idx ON public.jobs USING btree (deadline_at) WHERE (delivery <> 'done'::text);
CREATE INDEX jobs_deployment_idx ON public.jobs USING btree (deployment_id, id DESC) WHERE (deployment_id IS NOT NULL);
CREATE INDEX jobs_expiry_idx ON public.jobs USING btree (expires_at) WHERE (delivery = 'done'::text);
CREATE INDEX jobs_failed_idx ON public.jobs USING btree (id DESC) WHERE (status = 'failed'::text);
CREATE INDEX jobs_in_flight_idx ON public.jobs USING btree (pool_id, dispatched_at) WHERE (delivery = ANY (ARRAY['dispatched'::text, 'leased'::text]));
CREATE INDEX jobs_metadata_idx ON public.jobs USING gin (metadata jsonb_path_ops) WHERE (metadata <> '{}'::jsonb);
CREATE INDEX jobs_paused_idx ON public.jobs USING btree (retry_at) WHERE (delivery = 'paused'::text);
CREATE INDEX jobs_queue_idx ON public.jobs USING btree (account_id, pool_id);
CREATE INDEX jobs_waiting_idx ON public.jobs USING btree (pool_id, account_id, priority DESC, id) WHERE (delivery = 'waiting'::text);
CREATE UNIQUE INDEX label_rules_key ON public.label_rules USING btree (account_id, label, value) NULLS NOT DISTINCT;
CREATE INDEX label_use_mail_idx ON public.label_use USING btree (account_id) WHERE ((day_mail > 0) OR (month_mail > 0));
CREATE INDEX label_use_stopped_idx ON public.label_use USING btree (account_id) WHERE ((day_stopped_on IS NOT NULL) OR (month_stopped_on IS NOT NULL));
CREATE INDEX ledger_transactions_account_id_at_id_idx ON public.ledger_transactions USING btree (account_id, at, id);
CREATE UNIQUE INDEX ledger_transactions_cause_key ON public.ledger_transactions USING btree (cause);
CREATE INDEX ledger_transactions_corrects_idx ON public.ledger_transactions USING btree (corrects) WHERE (corrects IS NOT NULL);
CREATE INDEX ledger_transactions_job_idx ON public.ledger_transactions USING btree (job_id) WHERE (job_id IS NOT NULL);
CREATE INDEX mail_messages_account_id_idx ON public.mail_messages USING btree (account_id);
CREATE INDEX mail_messages_due_at_idx ON public.mail_messages USING btree (due_at);
CREATE INDEX mail_messages_expires_at_idx ON public.mail_messages USING btree (expires_at);
CREATE INDEX members_account_id_idx ON public.members USING btree (account_id, id);
CREATE UNIQUE INDEX members_email_key ON public.members USING btree (email, account_id) WHERE (removed_at IS NULL);
CREATE INDEX members_live_idx ON public.members USING btree (account_id, id) WHERE (removed_at IS NULL);
CREATE INDEX members_removed_at_idx ON public.members USING btree (removed_at) WHERE ((removed_at IS NOT NULL) AND (email ~~ '%@%'::text));
CREATE INDEX models_asset_id_idx ON public.models USING btree (asset_id) WHERE (asset_id IS NOT NULL);
CREATE INDEX models_counted_idx ON public.models USING btree (account_id) WHERE (state <> 'failed'::text);
CREATE INDEX models_digest_idx ON public.models USING btree (digest) WHERE (state = 'ready'::text);
CREATE INDEX models_failed_idx ON public.models USING btree (COALESCE(failed_at, created_at)) WHERE (state = 'failed'::text);
CREATE INDEX models_failed_of_account_idx ON public.models USING btree (account_id, COALESCE(failed_at, created_at)) WHERE (state = 'failed'::text);
CREATE INDEX models_import_idx ON public.models USING btree (account_id, import_due_at, id) WHERE (state = 'importing'::text);
CREATE INDEX models_list_idx ON public.models USING btree (account_id, id);
CREATE UNIQUE INDEX models_name_key ON public.models USING btree (account_id, folder, name);
CREATE UNIQUE INDEX models_shared_name_key ON public.models USING btree (folder, name) WHERE shared;
CREATE INDEX models_under_way_idx ON public.models USING btree (state, import_due_at) WHERE (state = ANY (ARRAY['uploading'::text, 'importing'::text]));
CREATE INDEX models_use_idx ON public.models USING btree (name) WHERE (state = 'ready'::text);
CREATE INDEX operator_sessions_expires_at_idx ON public.operator_sessions USING btree (expires_at);
CREATE UNIQUE INDEX operator_sessions_secret_hash_key ON public.operator_sessions USING btree (secret_hash);
CREATE UNIQUE INDEX operator_tokens_name_key ON public.operator_tokens USING btree (name);
CREATE UNIQUE INDEX operator_tokens_secret_hash_key ON public.operator_tokens USING btree (secret_hash);
CREATE INDEX payment_events_top_up_idx ON public.payment_events USING btree (top_up_id);
CREATE INDEX payment_reversals_payment_idx ON public.payment_reversals USING btree (provider, payment_ref);
CREATE INDEX pools_shared_idx ON public.pools USING btree (id) WHERE (id !~~ '________-____-____-____-____________%'::text);
CREATE INDEX resumable_uploads_account_id_idx ON public.resumable_uploads USING btree (account_id);
CREATE INDEX resumable_uploads_expires_at_idx ON public.resumable_uploads USING btree (expires_at);
CREATE INDEX resumable_uploads_open_idx ON public.resumable_uploads USING btree (account_id, expires_at) WHERE (asset_id IS NULL);
CREATE INDEX sign_in_links_account_id_api_key_id_idx ON public.sign_in_links USING btree (account_id, api_key_id);
CREATE INDEX sign_in_links_expires_at_idx ON public.sign_in_links USING btree (expires_at);
CREATE UNIQUE INDEX sign_in_links_token_hash_key ON public.sign_in_links USING btree (token_hash);
CREATE INDEX sign_in_requests_expires_at_idx ON public.sign_in_requests USING btree (expires_at);
CREATE INDEX storage_reservations_account_id_idx ON public.storage_reservations USING btree (account_id);
CREATE INDEX storage_reservations_expires_at_idx ON public.storage_reservations USING btree (expires_at);
CREATE INDEX top_ups_account_id_created_at_idx ON public.top_ups USING btree (account_id, created_at);
CREATE INDEX top_ups_owed_idx ON public.top_ups USING btree (id) WHERE (owed_micros > 0);
CREATE UNIQUE INDEX top_ups_payment_key ON public.top_ups USING btree (provider, payment_ref);
CREATE UNIQUE INDEX top_ups_transaction_id_key ON public.top_ups USING btree (transaction_id);
CREATE INDEX usage_records_account_id_finished_at_idx ON public.usage_records USING btree (account_id, finished_at);
CREATE INDEX usage_records_labels_idx ON public.usage_records USING btree (finished_at) WHERE (labels <> '{}'::jsonb);
CREATE INDEX webhook_endpoints_account_idx ON public.webhook_endpoints USING btree (account_id) WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX webhook_messages_event_key ON public.webhook_messages USING btree (endpoint_id, job_id, type);
CREATE INDEX webhook_messages_lane_idx ON public.webhook_messages USING btree (endpoint_id, due_at, id) WHERE (state = 'pending'::text);
CREATE INDEX webhook_messages_log_idx ON public.webhook_messages USING btree (endpoint_id, id);
CREATE INDEX webhook_secrets_endpoint_id_idx ON public.webhook_secrets USING btree (endpoint_id);
CREATE UNIQUE INDEX worker_tokens_hash_key ON public.worker_tokens USING btree (hash);
CREATE INDEX worker_tokens_pool_id_idx ON public.worker_tokens USING btree (pool_id);
CREATE INDEX workers_lost_idx ON public.workers USING btree (host, pool_id) WHERE ((state = 'stopped'::text) AND (ready_at IS NOT NULL));
CREATE INDEX workers_pool_idx ON public.workers USING btree (pool_id) WHERE (state <> 'stopped'::text);
CREATE INDEX workers_start_idx ON public.workers USING btree (pool_id, ready_at) WHERE (ready_at IS NOT NULL);

CREATE TRIGGER account_queues_row_trigger AFTER INSERT OR DELETE ON public.account_queues FOR EACH ROW EXECUTE FUNCTION follow_turn();
CREATE TRIGGER account_queues_turn_trigger BEFORE UPDATE ON public.account_queues FOR EACH ROW EXECUTE FUNCTION follow_turn();
CREATE TRIGGER api_keys_bequeath_member_trigger AFTER UPDATE OF rotated_to ON public.api_keys FOR EACH ROW WHEN (((new.member_id IS NOT NULL) AND (new.rotated_to IS NOT NULL))) EXECUTE FUNCTION bequeath_member();
CREATE TRIGGER api_keys_inherit_member_trigger BEFORE INSERT ON public.api_keys FOR EACH ROW WHEN (((new.member_id IS NULL) AND (new.parent_id IS NOT NULL))) EXECUTE FUNCTION inherit_member();
CREATE TRIGGER api_keys_rotation_trigger AFTER UPDATE OF rotated_to ON public.api_keys FOR EACH ROW WHEN ((new.rotated_to IS DISTINCT FROM old.rotated_to)) EXECUTE FUNCTION inherit_spend_keys();
CREATE TRIGGER audit_log_append_trigger BEFORE UPDATE ON public.audit_log FOR EACH ROW EXECUTE FUNCTION refuse_audit_change('the audit log is only appended to');
CREATE TRIGGER audit_log_keep_trigger BEFORE DELETE ON public.audit_log FOR EACH ROW WHEN ((old.at > (now() - '90 days'::interval))) EXECUTE FUNCTION refuse_change('the audit log keeps its entries for 90 days at least');
CREATE TRIGGER audit_log_unsealed_trigger BEFORE INSERT ON public.audit_log FOR EACH ROW WHEN (((new.segment IS NOT NULL) OR (new.salt IS NOT NULL) OR (new.content_digest IS NOT NULL) OR (new.digest IS NOT NULL))) EXECUTE FUNCTION refuse_change('an entry is sealed after it was appended');
CREATE TRIGGER audit_segments_append_trigger BEFORE UPDATE ON public.audit_segments FOR EACH ROW WHEN (((old.exported_at IS NOT NULL) OR (new.exported_at IS NULL) OR (old.no IS DISTINCT FROM new.no) OR (old.previous_hash IS DISTINCT FROM new.previous_hash) OR (old.hash IS DISTINCT FROM new.hash) OR (old.entries IS DISTINCT FROM new.entries) OR (old.first_id IS DISTINCT FROM new.first_id) OR (old.last_id IS DISTINCT FROM new.last_id) OR (old.first_at IS DISTINCT FROM new.first_at) OR (old.last_at IS DISTINCT FROM new.last_at) OR (old.sealed_at IS DISTINCT FROM new.sealed_at))) EXECUTE FUNCTION refuse_change('a sealed segment stays as it is, but that it was exported is noted once');
CREATE TRIGGER audit_segments_keep_trigger BEFORE DELETE ON public.audit_segments FOR EACH ROW WHEN ((old.last_at > (now() - '90 days'::interval))) EXECUTE FUNCTION refuse_change('the audit log keeps its entries for 90 days at least');
CREATE TRIGGER balances_low_event_trigger AFTER UPDATE ON public.balances FOR EACH ROW WHEN (((old.alerted_at IS NULL) AND (new.alerted_at IS NOT NULL))) EXECUTE FUNCTION record_low_credits();
CREATE TRIGGER balances_low_trigger BEFORE UPDATE ON public.balances FOR EACH ROW EXECUTE FUNCTION note_low_credits();
CREATE TRIGGER blobs_count_trigger AFTER INSERT OR DELETE ON public.blobs FOR EACH ROW EXECUTE FUNCTION count_stored_bytes();
CREATE TRIGGER deployment_versions_ready_trigger AFTER UPDATE ON public.deployment_versions FOR EACH ROW WHEN (((old.wanted_at IS NOT NULL) AND (new.wanted_at IS NULL) AND (new.ended_at IS NULL))) EXECUTE FUNCTION record_ready_deployment();
CREATE TRIGGER deployments_ready_trigger AFTER UPDATE ON public.deployments FOR EACH ROW WHEN (((old.wanted_at IS NOT NULL) AND (new.wanted_at IS NULL) AND (new.desired_state = 'running'::text) AND (new.deleted_at IS NULL))) EXECUTE FUNCTION record_ready_deployment();
CREATE TRIGGER deployments_stopped_trigger AFTER UPDATE ON public.deployments FOR EACH ROW WHEN (((old.desired_state <> 'stopped'::text) AND (old.deleted_at IS NULL) AND ((new.desired_state = 'stopped'::text) OR (new.deleted_at IS NOT NULL)))) EXECUTE FUNCTION record_stopped_deployment();
CREATE TRIGGER export_destinations_disabled_trigger AFTER UPDATE ON public.export_destinations FOR EACH ROW WHEN (((old.disabled_at IS NULL) AND (new.disabled_reason = 'failing'::text))) EXECUTE FUNCTION record_disabled_exports();
CREATE TRIGGER fleet_groups_stuck_first_trigger AFTER INSERT ON public.fleet_groups FOR EACH ROW WHEN (new.stuck) EXECUTE FUNCTION record_failed_deployment();
CREATE TRIGGER fleet_groups_stuck_trigger AFTER UPDATE ON public.fleet_groups FOR EACH ROW WHEN ((new.stuck AND (NOT old.stuck))) EXECUTE FUNCTION record_failed_deployment();
CREATE TRIGGER job_graphs_append_trigger BEFORE UPDATE ON public.job_graphs FOR EACH ROW EXECUTE FUNCTION refuse_change('a submitted graph is kept verbatim');
CREATE TRIGGER job_transitions_append_trigger BEFORE UPDATE ON public.job_transitions FOR EACH ROW EXECUTE FUNCTION refuse_change('history is only appended to');
CREATE TRIGGER jobs_forward_trigger BEFORE UPDATE ON public.jobs FOR EACH ROW EXECUTE FUNCTION refuse_step_back();
CREATE TRIGGER jobs_terminal_trigger BEFORE UPDATE ON public.jobs FOR EACH ROW WHEN ((old.delivery = 'done'::text)) EXECUTE FUNCTION refuse_terminal_change('nothing leaves a terminal state');
CREATE TRIGGER label_rules_count_trigger AFTER INSERT OR UPDATE ON public.label_rules FOR EACH ROW WHEN (((new.label = '@key'::text) AND (new.value IS NOT NULL))) EXECUTE FUNCTION count_first_key();
CREATE TRIGGER label_rules_first_key_trigger BEFORE INSERT OR UPDATE OF value ON public.label_rules FOR EACH ROW WHEN (((new.label = '@key'::text) AND (new.value IS NOT NULL))) EXECUTE FUNCTION name_first_key();
CREATE TRIGGER label_use_spend_trigger BEFORE INSERT OR UPDATE ON public.label_use FOR EACH ROW EXECUTE FUNCTION note_label_spend();
CREATE TRIGGER label_use_warning_trigger AFTER INSERT OR UPDATE ON public.label_use FOR EACH ROW WHEN (((new.day_warned > 0) OR (new.month_warned > 0))) EXECUTE FUNCTION record_spend_warnings();
CREATE TRIGGER ledger_entries_append_trigger BEFORE DELETE OR UPDATE ON public.ledger_entries FOR EACH ROW EXECUTE FUNCTION refuse_change('the ledger is only appended to');
CREATE TRIGGER ledger_transactions_append_trigger BEFORE DELETE OR UPDATE ON public.ledger_transactions FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change('the ledger is only appended to');
CREATE TRIGGER payment_events_append_trigger BEFORE DELETE OR UPDATE ON public.payment_events FOR EACH ROW EXECUTE FUNCTION refuse_change('what was told of payments is only appended to');
CREATE TRIGGER payment_reversals_keep_trigger BEFORE DELETE ON public.payment_reversals FOR EACH ROW EXECUTE FUNCTION refuse_change('what was told of payments is kept');
CREATE TRIGGER top_ups_keep_trigger BEFORE DELETE ON public.top_ups FOR EACH ROW EXECUTE FUNCTION refuse_change('orders are kept');
