import { Prisma } from '@prisma/client';
import type { JobMetadata, JobStatus, SurfaceKind } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { JobScope } from '../state';

/** What an operator's act on a job needs to know of it. */
export interface OperatorJob extends JobScope {
  id: string;
  status: JobStatus;
  hasSecrets: boolean;
  apiKeyId: string | null;
  metadata: JobMetadata;
  /** The graph's text as submitted. */
  workflow: string;
}

interface OperatorJobRow {
  id: string;
  account_id: string;
  surface: SurfaceKind;
  deployment_id: string | null;
  status: JobStatus;
  has_secrets: boolean;
  api_key_id: string | null;
  metadata: JobMetadata;
  workflow: string;
}

/** The SQL of jobs as operators find them. The one reader of jobs that takes no account: it serves the admin API alone. */
export class OperatorJobStore {
  /** @returns null when there is no such job, or it has expired. */
  async find(tx: Statements, id: string): Promise<OperatorJob | null> {
    const [row] = await tx.query<OperatorJobRow>(Prisma.sql`
      SELECT j.id, j.account_id, j.surface, j.deployment_id, j.status, j.has_secrets, j.api_key_id, j.metadata, g.workflow
      FROM jobs j JOIN job_graphs g ON g.job_id = j.id
      WHERE j.id = ${id}::uuid AND j.expires_at > now()`);
    if (row === undefined) return null;
    return {
      id: row.id,
      accountId: row.account_id,
      surface: row.surface,
      deploymentId: row.deployment_id,
      status: row.status,
      hasSecrets: row.has_secrets,
      apiKeyId: row.api_key_id,
      metadata: row.metadata,
      workflow: row.workflow,
    };
  }
}
