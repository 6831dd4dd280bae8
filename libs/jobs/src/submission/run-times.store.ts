import { Prisma } from '@prisma/client';
import type { JobMetadata } from '@millrace/contracts';
import type { Statements } from '@millrace/database';

/** How long earlier jobs that asked for the same work took: their billed engine time, in milliseconds. */
export interface RunTimes {
  /** How many are known, at most 100. */
  runs: number;
  p50Ms: number;
  p90Ms: number;
}

/** The latest that are looked at: what changed on the machines shows soon. */
const LATEST = 100;
/** Jobs among which these are looked for, so that thousands that wait or failed cost no more. */
const AMONG = 2_000;

/** The SQL that reads run times. */
export class RunTimesStore {
  /**
   * @param workKey see `workKeyOf`.
   * @param labels only of jobs with these; null: of all.
   * @returns null when no such job has succeeded.
   */
  async find(statements: Statements, workKey: bigint, labels: JobMetadata | null): Promise<RunTimes | null> {
    const [found] = await statements.rows<RunTimes>(this.findSql(workKey, labels));
    return found === undefined || found.runs === 0 ? null : found;
  }

  /** The statement of `find`, whose plan a test checks. */
  findSql(workKey: bigint, labels: JobMetadata | null): Prisma.Sql {
    const shown = labels === null ? Prisma.empty : Prisma.sql`AND j.metadata @> ${JSON.stringify(labels)}::jsonb`;
    return Prisma.sql`
      SELECT count(*)::int AS runs,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY billable_ms)::float8 AS p50_ms,
        percentile_disc(0.9) WITHIN GROUP (ORDER BY billable_ms)::float8 AS p90_ms
      FROM (
        SELECT j.billable_ms
        FROM (
          SELECT job_id FROM job_graphs WHERE work_key = ${workKey}::bigint ORDER BY job_id DESC LIMIT ${AMONG}
        ) AS g
        JOIN jobs j ON j.id = g.job_id AND j.status = 'succeeded' ${shown}
        ORDER BY g.job_id DESC LIMIT ${LATEST}
      ) AS latest`;
  }
}
