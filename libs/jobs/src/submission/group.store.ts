import { Prisma } from '@prisma/client';
import { storagesNotFullPart } from '@millrace/assets';
import { holdsPart } from '@millrace/billing';
import { newId } from '@millrace/contracts';
import {
  claimKeysPart,
  composeStatement,
  statementPart,
  type StatementPart,
  type Statements,
} from '@millrace/database';
import type { JobSettings } from '../job.settings';
import { countLabelsParts } from '../labels';
import { joinRotationsPart } from '../rotation';
import { deadlineAndExpiry } from '../state';
import { useModelsOfAllPart } from './library-models.store';
import type { JobDraft } from './submission';
import type { RecordedJob } from './submission.store';

/** Columns of the drafts that the parts of other libs and rooms read. */
type DraftColumn =
  | 'place'
  | 'id'
  | 'account_id'
  | 'api_key_id'
  | 'pool_id'
  | 'idempotency_key'
  | 'storage_bytes'
  | 'weight'
  | 'running_limit'
  | 'queue_limit'
  | 'hold_id'
  | 'hold_micros'
  | 'metadata'
  | 'library_models';

/** The SQL that records a group of submissions. */
export class GroupStore {
  constructor(private readonly settings: JobSettings) {}

  /**
   * Record jobs in one statement, all or none: what `SubmissionStore.record` would leave of them one after the other. Its
   * refusals are those of that statement, in any order: who gets one cannot know whose it is.
   *
   * Two such statements, or one and that of a single submission, never wait for each other in a circle: keys, then models, then queues, then
   * labels, then balances are locked, each of them in the order of their primary keys. Other statements that lock several queues do so in any
   * order. A wait of at most `lockWaitMs` ends a circle with one of those before PostgreSQL would (`deadlock_timeout`), and here.
   *
   * One text for any number of jobs, so that it is prepared once; the drafts are one value, as JSON, so that PostgreSQL expects
   * the same number of them each time and keeps its plan.
   *
   * @param drafts in the order of their arrival: the order of their ids. No two have the same account and key.
   * @returns the jobs in the order of `drafts`.
   * @throws RefusedError, ConstraintError, or an error with SQLSTATE 55P03 when a row was locked for too long: see `isUndone`.
   */
  async record(statements: Statements, drafts: readonly JobDraft[], lockWaitMs: number): Promise<RecordedJob[]> {
    const recorded = await statements.rows<RecordedJob>(this.recordSql(drafts, lockWaitMs));
    if (recorded.length !== drafts.length) throw new Error('a group of submissions was not recorded whole');
    return recorded;
  }

  /** The statement of `record`, whose plan a test checks. */
  recordSql(drafts: readonly JobDraft[], lockWaitMs: number): Prisma.Sql {
    const draft = draftsPart(drafts, lockWaitMs);
    const lifetimeSeconds = this.settings.idempotencySeconds;
    const storages = storagesNotFullPart(draft, claimKeysPart({ operation: 'postJobs', lifetimeSeconds }, draft));
    const library = useModelsOfAllPart(drafts, draft, storages);
    const graphs = statementPart('graphs')`
      INSERT INTO job_graphs (job_id, workflow, node_count, work_key, reuse_key)
      SELECT d.id, d.workflow, d.node_count, d.work_key, d.reuse_key FROM ${draft} d, (SELECT count(*) FROM ${library}) AS done RETURNING 1`;
    const joined = joinRotationsPart(draft, graphs);
    const labels = countLabelsParts(draft, joined);
    const jobs = this.jobsPart(draft, joined, labels);
    const transitions = statementPart('transitions')`
      INSERT INTO job_transitions (job_id, seq, to_status, attempt, cause)
      SELECT id, 1, 'queued', 0, 'submitted' FROM ${jobs}`;
    const inputs = statementPart('inputs')`
      INSERT INTO job_inputs (job_id, asset_id)
      SELECT d.id, input.id FROM ${draft} d, unnest(d.input_asset_ids) AS input (id), (SELECT count(*) FROM ${jobs}) AS done`;
    return composeStatement([transitions, inputs])`
      SELECT job.id, joined.ahead, job.created_at, job.deadline_at, job.expires_at, standing.spend
      FROM ${jobs} job JOIN ${draft} d ON d.id = job.id JOIN ${joined} joined ON joined.place = d.place
      LEFT JOIN ${labels.standing} standing ON standing.place = d.place ORDER BY d.place`;
  }

  private jobsPart(
    draft: StatementPart<DraftColumn>,
    joined: StatementPart<'place' | 'ahead'>,
    { counted, allowed }: ReturnType<typeof countLabelsParts>,
  ): StatementPart<'id'> {
    const { jobExecutionDeadlineSeconds, maxAttempts } = this.settings;
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
      FROM ${draft} d JOIN ${joined} joined ON joined.place = d.place LEFT JOIN ${counted} counted ON counted.place = d.place,
        (SELECT count(*) FROM ${holdsPart(draft, allowed)}) AS done
      RETURNING id, created_at, deadline_at, expires_at`;
  }
}

/**
 * The drafts as rows. New ids are made first and given out in the order of arrival: two that PostgreSQL makes in one microsecond
 * have no order of their own.
 */
function draftsPart(drafts: readonly JobDraft[], lockWaitMs: number): StatementPart<DraftColumn> {
  const timeout = statementPart('timeout')`SELECT set_config('lock_timeout', ${`${lockWaitMs}ms`}, true)`;
  const given = statementPart('given')`
    SELECT g.* FROM ${timeout}, json_to_recordset(${JSON.stringify(drafts.map(rowOf))}::json) AS g (
      place int, given_id uuid, account_id uuid, api_key_id uuid, pool_id text, surface text, deployment_id uuid,
      workflow text, node_count int, work_key bigint, reuse_key bytea, input_asset_ids uuid[], metadata jsonb, models text[], library_models text[], has_secrets boolean,
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

/** A draft by the names of the columns. Amounts are text: JSON has no integers of 64 bits. */
function rowOf(draft: JobDraft, index: number): Record<string, unknown> {
  return {
    place: index + 1,
    given_id: draft.id,
    account_id: draft.accountId,
    pool_id: draft.poolId,
    surface: draft.surface,
    deployment_id: draft.deploymentId,
    api_key_id: draft.apiKeyId,
    workflow: draft.workflow,
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
