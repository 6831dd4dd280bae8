import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { deliveryOfOne, holdsFence, type Fence } from '../state';

/** Who asks: a worker that joined a pool with a token. */
export interface RemoteHolder {
  tokenId: string;
  poolId: string;
}

/** An attempt that a remote worker holds. */
export interface RemoteAttempt extends Fence {
  accountId: string;
  hasSecrets: boolean;
}

/** What of jobs the workers outside the cluster may see: the attempts that they hold. Only reads; the guarded statements decide. */
export class RemoteAttempts {
  constructor(private readonly database: Statements) {}

  /**
   * The attempt of a fence, if the lease is held by a worker that joined with the token that asks, in the token's pool.
   *
   * @returns null for any other: one that was lost, is another worker's, or never was.
   */
  async find(fence: Fence, { tokenId, poolId }: RemoteHolder): Promise<RemoteAttempt | null> {
    const [job] = await this.database.rows<{ accountId: string; hasSecrets: boolean }>(Prisma.sql`
      SELECT j.account_id, j.has_secrets FROM jobs j JOIN workers w ON w.id = j.worker_id
      WHERE ${holdsFence(fence)} AND j.pool_id = ${poolId} AND w.token_id = ${tokenId}::uuid`);
    return job === undefined ? null : { ...fence, ...job };
  }

  /** Whether the job was submitted with this asset as input. */
  async hasInput(jobId: string, assetId: string): Promise<boolean> {
    const rows = await this.database.rows(Prisma.sql`
      SELECT job_id FROM job_inputs WHERE job_id = ${jobId}::uuid AND asset_id = ${assetId}::uuid`);
    return rows.length > 0;
  }

  /** The graph of a job, as it was submitted; null where the job is gone. */
  async workflowOf(jobId: string): Promise<string | null> {
    const [graph] = await this.database.rows<{ workflow: string }>(Prisma.sql`
      SELECT workflow FROM job_graphs WHERE job_id = ${jobId}::uuid`);
    return graph?.workflow ?? null;
  }

  /** Whether an attempt of a pool's job was sent to the pool's lane and waits to be claimed. */
  async isOffered(poolId: string, { jobId, attempt }: Pick<Fence, 'jobId' | 'attempt'>): Promise<boolean> {
    const rows = await this.database.rows(Prisma.sql`
      SELECT j.id FROM jobs j
      WHERE j.id = ${jobId}::uuid AND j.pool_id = ${poolId} AND j.attempt = ${attempt}::int - 1 AND ${deliveryOfOne} = 'dispatched'`);
    return rows.length > 0;
  }

  /** The worker that has a job now; null when none has it. */
  async workerOf(jobId: string): Promise<string | null> {
    const [job] = await this.database.rows<{ workerId: string }>(Prisma.sql`
      SELECT j.worker_id FROM jobs j WHERE j.id = ${jobId}::uuid AND ${deliveryOfOne} = 'leased'`);
    return job?.workerId ?? null;
  }
}
