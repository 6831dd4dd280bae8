import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import type { JobPlace } from '../state';

/** A job that is to be canceled with its batch. */
export interface CancelableJob extends JobPlace {
  id: string;
}

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** Jobs of batches that are to be canceled, in the order of their ids. @param batchId only of this batch. */
export async function listCancelable(
  statements: Statements,
  { after, limit, batchId = null }: { after: string | null; limit: number; batchId?: string | null },
): Promise<CancelableJob[]> {
  return statements.rows(Prisma.sql`
    SELECT j.id, j.account_id, j.surface, j.deployment_id FROM batches b JOIN jobs j ON j.batch_id = b.id
    WHERE b.canceling AND (${batchId}::uuid IS NULL OR b.id = ${batchId}::uuid)
      AND j.status IN ('queued', 'running') AND j.id > ${after ?? BEFORE_ALL}::uuid
    ORDER BY j.id LIMIT ${limit}`);
}

/** Batches whose jobs have all ended or are about to are no longer to be canceled. @returns how many. */
export async function endCanceling(statements: Statements): Promise<number> {
  return statements.execute(Prisma.sql`
    UPDATE batches b SET canceling = false
    WHERE b.canceling AND NOT EXISTS (SELECT FROM jobs j WHERE j.batch_id = b.id AND j.status IN ('queued', 'running'))`);
}

/** Delete batches past their retention whose jobs are gone, at most `limit`. @returns how many. */
export async function deleteExpired(statements: Statements, limit: number): Promise<number> {
  return statements.execute(Prisma.sql`
    DELETE FROM batches WHERE id IN (
      SELECT b.id FROM batches b
      WHERE b.expires_at <= now() AND NOT EXISTS (SELECT FROM jobs j WHERE j.batch_id = b.id)
      ORDER BY b.expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)`);
}
