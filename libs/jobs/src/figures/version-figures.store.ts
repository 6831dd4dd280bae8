import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { versionOfJob } from '@millrace/deployments';

/** How the latest jobs of one version came out. */
export interface VersionFigure {
  version: number;
  /** Jobs that have ended, in any way. */
  jobs: number;
  succeeded: number;
  failed: number;
  /** Of those that succeeded with a run of their own: the median of the engine time that was charged, in milliseconds; null where there is none. */
  medianEngineMs: number | null;
  /** Of the same: the median of what they cost, in millionths of a credit. */
  medianChargedMicros: number | null;
}

/** The latest jobs of a deployment that are looked at. */
const LATEST = 5_000;

/** The SQL that sums jobs up by version. */
export class VersionFiguresStore {
  async find(statements: Statements, deploymentId: string): Promise<VersionFigure[]> {
    return statements.rows(this.findSql(deploymentId));
  }

  /** The statement of `find`, whose plan a test checks. */
  findSql(deploymentId: string): Prisma.Sql {
    return Prisma.sql`
      SELECT version, count(*)::int AS jobs, count(*) FILTER (WHERE status = 'succeeded')::int AS succeeded,
        count(*) FILTER (WHERE status = 'failed')::int AS failed,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY billable_ms) FILTER (WHERE has_run)::float8 AS median_engine_ms,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY charged_micros) FILTER (WHERE has_run)::float8 AS median_charged_micros
      FROM (
        SELECT ${versionOfJob} AS version, status, delivery, billable_ms, charged_micros,
          status = 'succeeded' AND reused_from IS NULL AS has_run
        FROM jobs WHERE deployment_id = ${deploymentId}::uuid ORDER BY id DESC LIMIT ${LATEST}
      ) AS latest
      WHERE delivery = 'done' GROUP BY version`;
  }
}
