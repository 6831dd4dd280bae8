-- Keys that were rotated before count as the first of their line, and so do the caps that name one of them. The keys are changed last: each use of
-- one is noted in its row, which waits from then on.

-- Which key counts as which.
CREATE FUNCTION key_lines() RETURNS TABLE (account_id uuid, id uuid, first_id uuid, is_rotated boolean) LANGUAGE sql STABLE AS $$
    WITH RECURSIVE line AS (
        SELECT k.id AS first_id, k.id, k.rotated_to FROM api_keys k
        WHERE k.rotated_to IS NOT NULL AND NOT EXISTS (SELECT FROM api_keys earlier WHERE earlier.rotated_to = k.id)
        UNION ALL
        SELECT line.first_id, k.id, k.rotated_to FROM line JOIN api_keys k ON k.id = line.rotated_to
    )
    SELECT k.account_id, k.id, coalesce(line.first_id, k.spend_keys[1]), line.id IS NOT NULL
    FROM api_keys k LEFT JOIN line ON line.id = k.id WHERE line.id IS NOT NULL OR k.spend_keys IS NOT NULL
$$;

-- Of several caps of one line, the one counts that was set last.
DELETE FROM label_rules r USING (
    SELECT named.id, row_number() OVER (PARTITION BY named.account_id, coalesce(line.first_id::text, named.value)
        ORDER BY named.updated_at DESC, named.id DESC) AS place
    FROM label_rules named LEFT JOIN key_lines() line ON line.id::text = named.value
    WHERE named.label = '@key' AND named.value IS NOT NULL
) older WHERE r.id = older.id AND older.place > 1;
UPDATE label_rules r SET value = line.first_id::text FROM key_lines() line
WHERE r.label = '@key' AND r.value = line.id::text AND line.id <> line.first_id;

-- What the keys of a line were charged since the month began, as where a cap is set. Rows are locked by a statement before: a job that ends
-- meanwhile is in the sum, or adds to it afterwards.
SELECT FROM label_use u WHERE u.label = '@key' AND u.value IN (SELECT line.first_id::text FROM key_lines() line)
ORDER BY u.account_id, u.label, u.value FOR UPDATE;
WITH capped AS MATERIALIZED (
    SELECT line.account_id, line.id, line.first_id FROM key_lines() line WHERE EXISTS (SELECT FROM label_rules r
        WHERE r.account_id = line.account_id AND r.label = '@key' AND (r.value = line.first_id::text OR r.value IS NULL))
), used AS MATERIALIZED (
    SELECT g.account_id, g.api_key_id, sum(g.charged_micros) AS month_micros,
        sum(g.charged_micros) FILTER (WHERE g.finished_at >= date_trunc('day', now(), 'UTC')) AS day_micros
    FROM usage_records g
    WHERE g.account_id IN (SELECT account_id FROM capped) AND g.finished_at >= date_trunc('month', now(), 'UTC')
    GROUP BY g.account_id, g.api_key_id
)
INSERT INTO label_use AS u (account_id, label, value, day, day_micros, month_micros)
SELECT capped.account_id, '@key', capped.first_id::text, (now() AT TIME ZONE 'UTC')::date, coalesce(sum(used.day_micros), 0), sum(used.month_micros)
FROM capped JOIN used ON used.account_id = capped.account_id AND used.api_key_id = capped.id
GROUP BY capped.account_id, capped.first_id ORDER BY capped.account_id, capped.first_id
ON CONFLICT (account_id, label, value) DO UPDATE SET day = excluded.day, day_micros = excluded.day_micros, month_micros = excluded.month_micros;

-- Jobs that have not ended are counted by what was changed in the last minutes (loop adopt-capped-jobs).
UPDATE label_rules r SET updated_at = now()
WHERE r.label = '@key' AND r.account_id IN (SELECT line.account_id FROM key_lines() line);

-- A rotation that is under way is waited for: the next statement sees its successor.
SELECT FROM api_keys k WHERE k.id IN (SELECT line.id FROM key_lines() line) ORDER BY k.id FOR NO KEY UPDATE;
UPDATE api_keys k SET spend_keys = ARRAY[line.first_id] FROM key_lines() line
WHERE k.id = line.id AND line.is_rotated AND line.id <> line.first_id;

DROP FUNCTION key_lines();
