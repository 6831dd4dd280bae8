import { composeStatement, statementPart, type StatementPart, type Statements } from '@millrace/database';
import type { MovedJob } from '../state';

/** The columns that a part offers of the job which its statement moves. `from_status` is its status before. */
export type MovedColumn =
  | 'id'
  | 'account_id'
  | 'pool_id'
  | 'from_status'
  | 'status'
  | 'seq'
  | 'attempt'
  | 'worker_id'
  | 'charged_micros'
  | 'has_secrets'
  | 'error';

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
  const [moved] = await statements.rows<MovedJob>(composeStatement(parts)`
    SELECT id, account_id, pool_id, from_status AS "from", status, seq, attempt, worker_id, charged_micros, has_secrets,
      error ->> 'code' AS error_code
    FROM ${job}`);
  return moved ?? null;
}

/** Append the move to the job's history. */
export function transitionPart(job: StatementPart<MovedColumn>, cause: string): StatementPart {
  return statementPart('transition')`
    INSERT INTO job_transitions (job_id, seq, from_status, to_status, attempt, cause, worker_id)
    SELECT id, seq, from_status, status, attempt, ${cause}, worker_id FROM ${job}`;
}
