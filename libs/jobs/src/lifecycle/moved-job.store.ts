import { composeStatement, statementPart, type StatementPart, type Statements } from '@millrace/database';
import type { JobStatus } from '@millrace/contracts';
import type { MovedJob } from '../state';

interface MovedRow {
  id: string;
  account_id: string;
  pool_id: string;
  from_status: JobStatus;
  status: JobStatus;
  seq: number;
  attempt: number;
  worker_id: string | null;
  charged_micros: bigint | null;
  has_secrets: boolean;
}

/** The columns that a part offers of the job which its statement moves. */
export type MovedColumn = keyof MovedRow;

/**
 * Run the statement that moves a job, with the parts that go with the move.
 *
 * @returns null when its guard did not hold, and nothing happened.
 */
export async function runMove(
  statements: Statements,
  job: StatementPart<MovedColumn>,
  parts: StatementPart[],
): Promise<MovedJob | null> {
  const [row] = await statements.query<MovedRow>(composeStatement(parts)`
    SELECT id, account_id, pool_id, from_status, status, seq, attempt, worker_id, charged_micros, has_secrets FROM ${job}`);
  if (row === undefined) return null;
  return {
    id: row.id,
    accountId: row.account_id,
    poolId: row.pool_id,
    from: row.from_status,
    status: row.status,
    seq: row.seq,
    attempt: row.attempt,
    workerId: row.worker_id,
    chargedMicros: row.charged_micros,
    hasSecrets: row.has_secrets,
  };
}

/** Append the move to the job's history. */
export function transitionPart(job: StatementPart<MovedColumn>, cause: string): StatementPart {
  return statementPart('transition')`
    INSERT INTO job_transitions (job_id, seq, from_status, to_status, attempt, cause, worker_id)
    SELECT id, seq, from_status, status, attempt, ${cause}, worker_id FROM ${job}`;
}
