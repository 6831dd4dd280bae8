import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

/**
 * How long the message is overdue that has been due longest, in seconds; 0 where none is. Messages of endpoints that fail or are disabled do
 * not count: their receivers are late, not this service. Visits each endpoint that waits for something once.
 */
export async function oldestUntriedSeconds(statements: Statements): Promise<number> {
  const [row] = await statements.rows<{ seconds: number }>(Prisma.sql`
    WITH RECURSIVE lane (endpoint_id) AS (
      (SELECT m.endpoint_id FROM webhook_messages m WHERE m.state = 'pending' ORDER BY m.endpoint_id LIMIT 1)
      UNION ALL
      SELECT (SELECT m.endpoint_id FROM webhook_messages m
              WHERE m.state = 'pending' AND m.endpoint_id > lane.endpoint_id ORDER BY m.endpoint_id LIMIT 1)
      FROM lane WHERE lane.endpoint_id IS NOT NULL
    )
    SELECT coalesce(max(extract(epoch FROM now() - first.due_at)), 0)::float8 AS seconds FROM lane
    JOIN webhook_endpoints e ON e.id = lane.endpoint_id
      AND e.disabled_at IS NULL AND e.deleted_at IS NULL AND e.failing_since IS NULL
    CROSS JOIN LATERAL (
      SELECT m.due_at FROM webhook_messages m
      WHERE m.endpoint_id = lane.endpoint_id AND m.state = 'pending' AND m.due_at <= now() ORDER BY m.due_at LIMIT 1
    ) first`);
  return row?.seconds ?? 0;
}
