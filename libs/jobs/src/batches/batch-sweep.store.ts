import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import type { JobPlace } from '../state';

/** A job that is to be canceled with its batch. */
export interface CancelableJob extends JobPlace {
  id: string;
}

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

const cancelable = Prisma.sql`
  batches b JOIN jobs j ON j.batch_id = b.id WHERE b.canceling AND j.status IN ('queued', 'running')`;

/** Jobs of a batch that are to be canceled with it, in the order of their ids. */
export async function listCancelableOf(
  statements: Statements,
  batchId: string,
  limit: number,
): Promise<CancelableJob[]> {
  return statements.rows(Prisma.sql`
    SELECT j.id, j.account_id, j.surface, j.deployment_id FROM ${cancelable} AND b.id = ${batchId}::uuid
    ORDER BY j.id LIMIT ${limit}`);
}

/** Jobs of all batches that are to be canceled, in the order of their ids. @param upTo only those with this id or a lower one. */
export async function listCancelable(
  statements: Statements,
  { after, upTo, limit }: { after: string | null; upTo: string; limit: number },
): Promise<CancelableJob[]> {
  return statements.rows(Prisma.sql`
    SELECT j.id, j.account_id, j.surface, j.deployment_id FROM ${cancelable}
      AND j.id > ${after ?? BEFORE_ALL}::uuid AND j.id <= ${upTo}::uuid
    ORDER BY j.id LIMIT ${limit}`);
}

/** The highest id of a job that is to be canceled with its batch; null where there is none. */
export async function lastCancelable(statements: Statements): Promise<string | null> {
  const [last] = await statements.rows<{ id: string }>(Prisma.sql`
    SELECT j.id FROM ${cancelable} ORDER BY j.id DESC LIMIT 1`);
  return last?.id ?? null;
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
