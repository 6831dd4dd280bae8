import { Prisma } from '@prisma/client';
import type { OutputType } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { Fence } from './job';

/** An output as it is recorded. */
export interface OutputRow {
  nodeId: string;
  /** Position among the outputs of its node. */
  nodeIndex: number;
  /** Position among the outputs of its attempt: by node completion, then the node's own order. */
  ordinal: number;
  name: string;
  type: OutputType;
  assetId: string;
}

/** What a job's outputs inherit from it. */
export interface OutputOwner {
  accountId: string;
  expiresAt: Date;
}

/** The SQL of job outputs. */
export class OutputStore {
  /**
   * Make sure that the caller still holds the lease, and that the job does not end before this transaction does.
   *
   * @returns null when the lease is lost.
   */
  async lockJob(tx: Statements, fence: Fence): Promise<OutputOwner | null> {
    const [row] = await tx.query<{ account_id: string; expires_at: Date }>(Prisma.sql`
      SELECT account_id, expires_at FROM jobs
      WHERE id = ${fence.jobId}::uuid AND attempt = ${fence.attempt} AND lease_token = ${fence.leaseToken}::uuid
        AND delivery = 'leased'
      FOR SHARE`);
    return row === undefined ? null : { accountId: row.account_id, expiresAt: row.expires_at };
  }

  /** Record an output in the place of the one that a lost attempt recorded for the same node. @returns the asset replaced. */
  async put(tx: Statements, fence: Fence, output: OutputRow): Promise<string | null> {
    const [row] = await tx.query<{ replaced: string | null }>(Prisma.sql`
      WITH old AS (
        SELECT asset_id FROM job_outputs
        WHERE job_id = ${fence.jobId}::uuid AND node_id = ${output.nodeId} AND node_index = ${output.nodeIndex}
      )
      INSERT INTO job_outputs (job_id, node_id, node_index, attempt, ordinal, name, type, asset_id)
      VALUES (${fence.jobId}::uuid, ${output.nodeId}, ${output.nodeIndex}, ${fence.attempt}, ${output.ordinal},
        ${output.name}, ${output.type}, ${output.assetId}::uuid)
      ON CONFLICT (job_id, node_id, node_index) DO UPDATE
        SET attempt = excluded.attempt, ordinal = excluded.ordinal, name = excluded.name, type = excluded.type,
            asset_id = excluded.asset_id
      RETURNING (SELECT asset_id FROM old) AS replaced`);
    return row?.replaced ?? null;
  }
}
