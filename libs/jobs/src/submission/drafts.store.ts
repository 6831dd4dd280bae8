import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { statementPart, type StatementPart } from '@millrace/database';
import type { JobSettings } from '../job.settings';
import { deadlineAndExpiry } from '../state';
import type { JobDraft } from './submission';

/* Drafts of many jobs as rows, and the rows that are made of them. */

/** Columns of the drafts that the parts of other libs and rooms read. */
export type DraftColumn =
  | 'place'
  | 'id'
  | 'account_id'
  | 'api_key_id'
  | 'sub_key_id'
  | 'pool_id'
  | 'deployment_id'
  | 'idempotency_key'
  | 'storage_bytes'
  | 'weight'
  | 'running_limit'
  | 'queue_limit'
  | 'hold_id'
  | 'hold_micros'
  | 'metadata'
  | 'library_models';

/**
 * The drafts as rows. New ids are made first and given out in the order of arrival: two that PostgreSQL makes in one microsecond
 * have no order of their own.
 */
export function draftsPart(drafts: readonly JobDraft[], lockWaitMs: number): StatementPart<DraftColumn> {
  const timeout = statementPart('timeout')`SELECT set_config('lock_timeout', ${`${lockWaitMs}ms`}, true)`;
  const graphs = drafts.map(({ workflow }) => Buffer.from(workflow));
  const rows = JSON.stringify(rowsOf(drafts, graphs));
  const given = statementPart('given')`
    SELECT g.*, convert_from(substring(bytes FROM g.graph_at FOR g.graph_bytes), 'UTF8') AS workflow
    FROM ${timeout}, (SELECT ${Buffer.concat(graphs)}::bytea AS bytes) AS graphs, json_to_recordset(${rows}::json) AS g (
      place int, given_id uuid, account_id uuid, api_key_id uuid, sub_key_id uuid, pool_id text, surface text, deployment_id uuid,
      graph_at int, graph_bytes int, node_count int, work_key bigint, reuse_key bytea, input_asset_ids uuid[], metadata jsonb, models text[], library_models text[], has_secrets boolean,
      traceparent text, idempotency_key text, weight int, running_limit int, queue_limit int, storage_bytes float8,
      retention_seconds float8, price_micros_per_second bigint, hold_micros bigint, hold_id uuid, spend_limit_micros bigint,
      batch_id uuid, batch_index int, retry_max int, retry_codes text[], retry_pause_seconds int)`;
  const ids = statementPart('ids')`
    SELECT id, row_number() OVER (ORDER BY id) AS place FROM (SELECT new_job_id() AS id FROM ${given}) AS made`;
  // A job is kept since it was made; one of a batch ends with the batch, whose transaction began before.
  return statementPart<DraftColumn>('draft')`
    SELECT made.*, least(created_at_of(made.id), CASE WHEN made.batch_id IS NOT NULL THEN now() END) AS kept_since
    FROM (SELECT coalesce(g.given_id, ids.id) AS id, g.* FROM ${given} g JOIN ${ids} ids ON ids.place = g.place) AS made`;
}

/**
 * Drafts by the names of the columns. Amounts are text: JSON has no integers of 64 bits. Graphs are where their bytes begin among those of all, from
 * 1 on, and how many these are: as a string in JSON each would be escaped here and read again there.
 */
function rowsOf(drafts: readonly JobDraft[], graphs: readonly Buffer[]): Record<string, unknown>[] {
  let after = 1;
  return drafts.map((draft, index) => {
    const { length } = graphs[index] ?? Buffer.alloc(0);
    after += length;
    return { place: index + 1, graph_at: after - length, graph_bytes: length, ...rowOf(draft) };
  });
}

function rowOf(draft: JobDraft): Record<string, unknown> {
  return {
    given_id: draft.id,
    account_id: draft.accountId,
    pool_id: draft.poolId,
    surface: draft.surface,
    deployment_id: draft.deploymentId,
    api_key_id: draft.apiKeyId,
    sub_key_id: draft.subKeyId,
    node_count: draft.nodeCount,
    work_key: String(draft.workKey),
    reuse_key: draft.reuseKey === null ? null : `\\x${draft.reuseKey.toString('hex')}`,
    input_asset_ids: draft.inputAssetIds,
    metadata: draft.metadata,
    idempotency_key: draft.idempotencyKey,
    weight: draft.weight,
    running_limit: draft.runningLimit,
    queue_limit: draft.queueLimit,
    retention_seconds: draft.retentionSeconds,
    storage_bytes: draft.storageBytes,
    price_micros_per_second: String(draft.priceMicrosPerSecond),
    hold_id: newId(),
    hold_micros: String(draft.holdMicros),
    spend_limit_micros: draft.spendLimitMicros === null ? null : String(draft.spendLimitMicros),
    has_secrets: draft.hasSecrets,
    models: draft.models.length > 0 ? draft.models : null,
    library_models: draft.libraryModels.length > 0 ? draft.libraryModels : null,
    traceparent: draft.traceparent,
    batch_id: draft.batch?.id ?? null,
    batch_index: draft.batch?.index ?? null,
    retry_max: draft.retry?.max ?? 0,
    retry_codes: draft.retry?.on ?? null,
    retry_pause_seconds: draft.retry?.pause_seconds ?? 0,
  };
}

type Drafts = StatementPart<DraftColumn>;

/** The graphs of the jobs. @param after a part that must have run first. */
export function graphsPart(draft: Drafts, after: StatementPart): StatementPart {
  return statementPart('graphs')`
    INSERT INTO job_graphs (job_id, workflow, node_count, work_key, reuse_key)
    SELECT d.id, d.workflow, d.node_count, d.work_key, d.reuse_key FROM ${draft} d, (SELECT count(*) FROM ${after}) AS done RETURNING 1`;
}

/**
 * The jobs themselves.
 *
 * @param counted by which of its labels each is counted.
 * @param after a part that must have run first.
 */
export function jobsPart(
  { jobExecutionDeadlineSeconds, maxAttempts }: JobSettings,
  draft: Drafts,
  counted: StatementPart<'place' | 'limited_labels' | 'retention_seconds'>,
  after: StatementPart,
): StatementPart<'id'> {
  const kept = Prisma.sql`least(d.retention_seconds, counted.retention_seconds)`;
  const ends = deadlineAndExpiry(Prisma.sql`d.kept_since`, kept, jobExecutionDeadlineSeconds);
  return statementPart<'id'>('jobs_made')`
    INSERT INTO jobs (id, created_at, updated_at, account_id, pool_id, surface, deployment_id, api_key_id, max_attempts, deadline_at,
      expires_at, has_secrets, price_micros_per_second, held_micros, spend_limit_micros, metadata, models, traceparent,
      batch_id, batch_index, retry_max, retry_codes, retry_pause_seconds, limited_labels)
    SELECT d.id, created_at_of(d.id), created_at_of(d.id), d.account_id, d.pool_id, d.surface, d.deployment_id, d.api_key_id, ${maxAttempts},
      ${ends}, d.has_secrets, d.price_micros_per_second, d.hold_micros, d.spend_limit_micros, d.metadata, d.models, d.traceparent,
      d.batch_id, d.batch_index, d.retry_max, d.retry_codes, d.retry_pause_seconds,
      counted.limited_labels
    FROM ${draft} d LEFT JOIN ${counted} counted ON counted.place = d.place, (SELECT count(*) FROM ${after}) AS done
    RETURNING id, created_at, deadline_at, expires_at`;
}

/** The first step of each job's history, and the assets that it refers to. */
export function firstRowsParts(draft: Drafts, jobs: StatementPart<'id'>): StatementPart[] {
  const transitions = statementPart('transitions')`
    INSERT INTO job_transitions (job_id, seq, to_status, attempt, cause)
    SELECT id, 1, 'queued', 0, 'submitted' FROM ${jobs}`;
  const inputs = statementPart('inputs')`
    INSERT INTO job_inputs (job_id, asset_id)
    SELECT d.id, input.id FROM ${draft} d, unnest(d.input_asset_ids) AS input (id), (SELECT count(*) FROM ${jobs}) AS done`;
  return [transitions, inputs];
}
