-- Nothing that the fleet does by itself makes its workers come: see `isStuck` in libs/fleet.
ALTER TABLE fleet_groups ADD COLUMN stuck boolean NOT NULL DEFAULT false;

-- An event of the version whose pool it is. Of a deployment that is stopped or deleted, and of a version that has ended, there is none.
CREATE FUNCTION record_deployment_event(pool text, event text, more jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM record_webhook_event(d.account_id, event, more || jsonb_build_object(
        'id', d.id, 'name', d.name, 'version', coalesce(substring(pool FROM '-v([0-9]+)$')::int, 1)))
    FROM deployments d
    WHERE d.desired_state = 'running' AND d.deleted_at IS NULL AND d.id IN (
        SELECT id FROM deployments WHERE pool_id = pool
        UNION ALL SELECT deployment_id FROM deployment_versions WHERE pool_id = pool AND ended_at IS NULL);
END
$$;

-- deployment.ready: a worker is ready after it was made, started or asked in vain.
CREATE FUNCTION record_ready_deployment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM record_deployment_event(NEW.pool_id, 'deployment.ready', '{}');
    RETURN NULL;
END
$$;
CREATE TRIGGER deployments_ready_trigger AFTER UPDATE ON deployments FOR EACH ROW
    WHEN (OLD.wanted_at IS NOT NULL AND NEW.wanted_at IS NULL AND NEW.desired_state = 'running' AND NEW.deleted_at IS NULL)
    EXECUTE FUNCTION record_ready_deployment();
CREATE TRIGGER deployment_versions_ready_trigger AFTER UPDATE ON deployment_versions FOR EACH ROW
    WHEN (OLD.wanted_at IS NOT NULL AND NEW.wanted_at IS NULL AND NEW.ended_at IS NULL)
    EXECUTE FUNCTION record_ready_deployment();

-- deployment.failed: its workers do not come, and why.
CREATE FUNCTION record_failed_deployment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM record_deployment_event(NEW.pool_id, 'deployment.failed', jsonb_build_object('reason', NEW.reason));
    RETURN NULL;
END
$$;
CREATE TRIGGER fleet_groups_stuck_trigger AFTER UPDATE ON fleet_groups FOR EACH ROW
    WHEN (NEW.stuck AND NOT OLD.stuck) EXECUTE FUNCTION record_failed_deployment();
CREATE TRIGGER fleet_groups_stuck_first_trigger AFTER INSERT ON fleet_groups FOR EACH ROW
    WHEN (NEW.stuck) EXECUTE FUNCTION record_failed_deployment();
