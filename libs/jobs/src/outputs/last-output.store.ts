import { mintOutputPart } from '@millrace/assets';
import { statementPart, type StatementPart } from '@millrace/database';
import type { JobSettings } from '../job.settings';
import type { RunColumn, WithEnd } from '../lifecycle';
import type { OutputRow } from './output.store';

/** The reason with which the statement refuses itself when the output has to be recorded by a statement of its own. */
const OUTPUT_APART = 'output_apart';

/**
 * Records the output with which an attempt succeeds, in the statement that ends its job: one commit for both. For the plain case
 * alone, an output in a place that has none: where the place or the name is taken, the job has as many outputs as it may have,
 * or the blob was swept, the statement fails and changes nothing, and `OutputStore.record` decides.
 *
 * It needs no fence of its own: the row that it reads is locked, and there only for who holds the lease. Locks are taken in the
 * order of `OutputStore.record`, and before those of the end: job, blob, output, then queue and balance.
 */
export function withLastOutput(
  output: OutputRow,
  { maxOutputsPerJob }: Pick<JobSettings, 'maxOutputsPerJob'>,
): WithEnd {
  return <Column extends string>(job: StatementPart<Column | RunColumn>) => {
    const recorded = recordedPart(output, job, maxOutputsPerJob);
    return statementPart<Column | RunColumn>('with_output')`
      SELECT job.* FROM ${job} job
      WHERE (SELECT count(*) FROM ${recorded} o WHERE o.job_id = job.id) = 1 OR refuse(${OUTPUT_APART})`;
  };
}

function recordedPart(
  { nodeId, nodeIndex, ordinal, type, asset: draft }: OutputRow,
  job: StatementPart<RunColumn>,
  maxOutputs: number,
): StatementPart<'job_id'> {
  const asset = mintOutputPart(draft, job);
  return statementPart<'job_id'>('output')`
    INSERT INTO job_outputs (job_id, node_id, node_index, attempt, ordinal, name, type, asset_id)
    SELECT job.id, ${nodeId}, ${nodeIndex}, job.attempt, ${ordinal}, ${draft.name}, ${type}, asset.id
    FROM ${job} job, ${asset} asset
    WHERE (SELECT count(*) FROM job_outputs o WHERE o.job_id = job.id AND o.attempt = job.attempt) < ${maxOutputs}
    RETURNING job_id`;
}
