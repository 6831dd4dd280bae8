import { mintOrKeepOutputPart, type OutputAsset } from '@millrace/assets';
import type { OutputType } from '@millrace/contracts';
import { composeStatement, statementPart, type StatementPart, type Statements } from '@millrace/database';
import type { JobSettings } from '../job.settings';
import { holdsFence, type Fence } from '../state';

/** An output as it is recorded. */
export interface OutputRow {
  nodeId: string;
  /** Position among the outputs of its node. */
  nodeIndex: number;
  /** Position among the outputs of its attempt: by node completion, then the node's own order. */
  ordinal: number;
  type: OutputType;
  asset: OutputAsset;
}

/** `blob_gone`: the blob was swept meanwhile. Of what was not recorded, nothing was. */
export type RecordedOutput = 'recorded' | 'lease_lost' | 'blob_gone';

/** The reason with which the statement refuses itself when another recorded for the same place since it began. */
export const OUTPUT_OVERTAKEN = 'output_overtaken';

/** The reason with which the statement refuses itself when its attempt has recorded as many outputs as a job may have. */
export const TOO_MANY_OUTPUTS = 'too_many_outputs';

/** The SQL of job outputs. */
export class OutputStore {
  constructor(private readonly settings: Pick<JobSettings, 'maxOutputsPerJob'>) {}

  /**
   * Record an output in one statement: its blob is kept, its asset made, and the output takes the place of the one that was
   * recorded there before, and of what an earlier attempt recorded under its name: a job shows each name once. Their assets stay until the
   * job expires, because events and polls have named them; the same output made again keeps its asset.
   * The parts form a chain, so that locks are always taken in one order: job, blob, asset, output.
   *
   * The lock of the job keeps its lease where it is, so that an attempt has what those before it recorded in its snapshot,
   * and lets one record after the other: two upserts that begin to insert at once, the name's index would refuse. An
   * attempt may do so, where an answer was lost on the way: what the first try put is not seen by a second that began before and waited
   * for it, and an upsert would lay itself over it all the same.
   *
   * @throws RefusedError OUTPUT_OVERTAKEN then: a statement that begins now sees it. TOO_MANY_OUTPUTS; ConstraintError where the
   * id of the node or the name is too long to be indexed.
   */
  async record(statements: Statements, fence: Fence, output: OutputRow): Promise<RecordedOutput> {
    const job = jobPart(fence, output, this.settings.maxOutputsPerJob);
    const place = placePart(output, job);
    const asset = mintOrKeepOutputPart(output.asset, job, place);
    const parts = [namesakePart(output, job, asset), outputPart(output, { job, asset, place })];
    const [row] = await statements.rows<{ assetId: string | null }>(
      composeStatement(parts)`SELECT asset.id AS asset_id FROM ${job} job LEFT JOIN ${asset} asset ON true`,
    );
    if (row === undefined) return 'lease_lost';
    return row.assetId === null ? 'blob_gone' : 'recorded';
  }
}

/** The job, if the caller holds its lease, which it cannot lose before the statement has committed. */
function jobPart(
  fence: Fence,
  { nodeId, nodeIndex }: OutputRow,
  maxOutputs: number,
): StatementPart<'id' | 'account_id' | 'expires_at' | 'attempt'> {
  return statementPart<'id' | 'account_id' | 'expires_at' | 'attempt'>('job')`
    SELECT j.id, j.account_id, j.expires_at, j.attempt
    FROM jobs j
    WHERE ((SELECT count(*) FROM job_outputs o
            WHERE o.job_id = j.id AND o.attempt = j.attempt AND (o.node_id, o.node_index) <> (${nodeId}, ${nodeIndex})
           ) < ${maxOutputs} OR refuse(${TOO_MANY_OUTPUTS}))
      AND ${holdsFence(fence)} FOR NO KEY UPDATE`;
}

/** What was recorded for the place before. */
function placePart({ nodeId, nodeIndex }: OutputRow, job: StatementPart<'id'>): StatementPart<'asset_id'> {
  return statementPart<'asset_id'>('place')`
    SELECT o.asset_id FROM ${job} job JOIN job_outputs o ON o.job_id = job.id
    WHERE o.node_id = ${nodeId} AND o.node_index = ${nodeIndex}`;
}

/**
 * Takes off its job what an earlier attempt recorded under the name in another place. Names that differ in case alone are one: many
 * systems have one file for them.
 */
function namesakePart(
  { nodeId, nodeIndex, asset: { name } }: OutputRow,
  job: StatementPart<'id' | 'attempt'>,
  asset: StatementPart,
): StatementPart {
  return statementPart('namesake')`
    DELETE FROM job_outputs o USING ${job} job, ${asset} asset
    WHERE o.job_id = job.id AND (o.node_id, o.node_index) <> (${nodeId}, ${nodeIndex})
      AND o.attempt < job.attempt AND lower(o.name) = lower(${name}::text)`;
}

/** What the output's own part reads. */
interface RecordedParts {
  job: StatementPart<'id' | 'attempt'>;
  asset: StatementPart<'id'>;
  place: StatementPart<'asset_id'>;
}

function outputPart(
  { nodeId, nodeIndex, ordinal, type, asset: { name } }: OutputRow,
  { job, asset, place }: RecordedParts,
): StatementPart {
  return statementPart('output')`
    INSERT INTO job_outputs AS o (job_id, node_id, node_index, attempt, ordinal, name, type, asset_id)
    SELECT job.id, ${nodeId}, ${nodeIndex}, job.attempt, ${ordinal}, ${name}, ${type}, asset.id FROM ${job} job, ${asset} asset
    ON CONFLICT (job_id, node_id, node_index) DO UPDATE
      SET attempt = excluded.attempt, ordinal = excluded.ordinal, name = excluded.name, type = excluded.type,
          asset_id = excluded.asset_id
      WHERE o.asset_id = (SELECT asset_id FROM ${place}) OR refuse(${OUTPUT_OVERTAKEN})`;
}
