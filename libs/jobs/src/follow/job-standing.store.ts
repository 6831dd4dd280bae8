import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { seenLately } from '@millrace/deployments';
import { isInScope, isReady, isSetAside, type JobScope } from '../state';
import type { JobStandingRow } from './job-standing';

/** The worker `other` lives and comes up. */
const comesUp = Prisma.sql`(other.state = 'starting' AND ${seenLately(Prisma.sql`other`)})`;

/** Where a job stands, and what it waits for. @returns null where the scope has no such job. */
export async function findStanding(
  statements: Statements,
  scope: JobScope,
  id: string,
): Promise<JobStandingRow | null> {
  const [row] = await statements.rows<JobStandingRow>(Prisma.sql`
    SELECT j.id, j.status, j.delivery, ${isSetAside} AS is_set_aside, j.retry_at, coalesce(q.in_flight, 0) AS in_flight,
      coalesce(q.running_limit, 1) AS running_limit, coalesce(d.desired_state = 'stopped', false) AS is_stopped, w.ready_workers,
      w.comes_up OR coalesce(g.phase IN ('starting', 'failed'), false) AS is_starting, coalesce(g.reason, w.note) AS starting_note
    FROM jobs j LEFT JOIN account_queues q ON q.pool_id = j.pool_id AND q.account_id = j.account_id
    LEFT JOIN deployments d ON d.id = j.deployment_id LEFT JOIN fleet_groups g ON g.pool_id = j.pool_id
    CROSS JOIN LATERAL (
      SELECT (count(*) FILTER (WHERE ${isReady}))::int AS ready_workers, coalesce(bool_or(${comesUp}), false) AS comes_up,
        min(coalesce(other.problem, other.models_note)) FILTER (WHERE ${comesUp}) AS note
      FROM workers other WHERE other.pool_id = j.pool_id
    ) w
    WHERE j.id = ${id}::uuid AND ${isInScope(scope)}`);
  return row ?? null;
}
