-- Keeps `account_turns` equal to `account_queues`, whichever statement writes that: a row for each account with jobs waiting in a pool, with the
-- pass of its next turn. A turn finds its account there.
--
-- Passes grow, so that a row's key is a new one with every turn: looking for it, and its unique index, never meet the dead versions that a transaction
-- which stays open keeps. Those of an account's queue, whose key stays, are met by everything that looks for that; without an index on what changes
-- there they are few in the index (HOT).
--
-- Where a job in flight waits again, which may be before the head of its queue, the head is not known any more: also where a process of the version
-- before this lets it, which hands its jobs back when an upgrade stops it.
--
-- It writes with the rights of the owner: no process has any for this, and one that began before the table was there needs none.
--
-- A row that is changed is followed at once, for turns in the same statement; one that is new or gone, when the statement ends: an INSERT may
-- come to be an UPDATE instead.
-- A migration creates the function; dispatch-functions.int-spec.ts holds that one equal to this.
CREATE OR REPLACE FUNCTION follow_turn() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
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
$$;
