-- Keys that were rotated before count as the first of their line, and so do the caps that name one of them.
WITH RECURSIVE line AS (
    SELECT k.id AS first_id, k.rotated_to AS id FROM api_keys k
    WHERE k.rotated_to IS NOT NULL AND NOT EXISTS (SELECT FROM api_keys earlier WHERE earlier.rotated_to = k.id)
    UNION ALL
    SELECT line.first_id, k.rotated_to FROM line JOIN api_keys k ON k.id = line.id WHERE k.rotated_to IS NOT NULL
)
UPDATE api_keys k SET spend_keys = ARRAY[line.first_id] FROM line WHERE k.id = line.id;

-- Of several caps of one line, the one counts that was set last.
DELETE FROM label_rules r USING (
    SELECT named.id, row_number() OVER (PARTITION BY named.account_id, (spend_keys_of(named.value::uuid))[1]
        ORDER BY named.updated_at DESC, named.id DESC) AS place
    FROM label_rules named WHERE named.label = '@key' AND named.value IS NOT NULL
) older WHERE r.id = older.id AND older.place > 1;
UPDATE label_rules r SET value = (spend_keys_of(r.value::uuid))[1]::text
WHERE r.label = '@key' AND r.value <> (spend_keys_of(r.value::uuid))[1]::text;

-- What the keys of a line were charged since the month began, as where a cap is set.
INSERT INTO label_use AS u (account_id, label, value, day, day_micros, month_micros)
SELECT s.account_id, '@key', s.value, (now() AT TIME ZONE 'UTC')::date, s.day_micros, s.month_micros FROM (
    SELECT g.account_id, line.first_id::text AS value, sum(g.charged_micros)::bigint AS month_micros,
        coalesce(sum(g.charged_micros) FILTER (WHERE g.finished_at >= date_trunc('day', now(), 'UTC')), 0)::bigint AS day_micros
    FROM (SELECT DISTINCT k.account_id, k.spend_keys[1] AS first_id FROM api_keys k WHERE k.spend_keys IS NOT NULL) line
    JOIN api_keys member ON member.account_id = line.account_id AND (member.id = line.first_id OR member.spend_keys[1] = line.first_id)
    JOIN usage_records g ON g.account_id = line.account_id AND g.api_key_id = member.id
        AND g.finished_at >= date_trunc('month', now(), 'UTC')
    WHERE EXISTS (SELECT FROM label_rules r
        WHERE r.account_id = line.account_id AND r.label = '@key' AND (r.value = line.first_id::text OR r.value IS NULL))
    GROUP BY g.account_id, line.first_id
) s ORDER BY s.account_id, s.value
ON CONFLICT (account_id, label, value) DO UPDATE SET day = excluded.day, day_micros = excluded.day_micros, month_micros = excluded.month_micros;

-- Jobs that have not ended are counted by what was changed in the last minutes (loop adopt-capped-jobs).
UPDATE label_rules r SET updated_at = now()
WHERE r.label = '@key' AND EXISTS (SELECT FROM api_keys k WHERE k.account_id = r.account_id AND k.spend_keys IS NOT NULL);
