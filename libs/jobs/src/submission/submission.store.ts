import { Prisma } from '@prisma/client';
import { openAccountPart } from '@millrace/accounts';
import { storageNotFullPart } from '@millrace/assets';
import { coversHoldPart, holdPart } from '@millrace/billing';
import {
  ConstraintError,
  claimKeyPart,
  composeStatement,
  statementPart,
  type StatementPart,
  type Statements,
} from '@millrace/database';
import { openDeploymentPart } from '@millrace/deployments';
import type { JobSettings } from '../job.settings';
import { countLabelsParts } from '../labels';
import type { SpendStanding } from '../spend';
import { hasRoomPart, joinRotationPart, turnOf, turnsPart, type Turn, type TurnOffer, type TurnRow } from '../rotation';
import { deadlineAndExpiry } from '../state';
import { useModelsPart } from './library-models.store';
import type { JobDraft } from './submission';

/** The constraint that a submission meets when an asset went between its check and its commit. */
export const INPUT_ASSET_CONSTRAINT = 'job_inputs_asset_id_fkey';

/** Whether a statement has recorded nothing because an asset was deleted since it was looked up. No other asset will have its id. */
export function isAssetGone(error: unknown): boolean {
  return error instanceof ConstraintError && error.constraint === INPUT_ASSET_CONSTRAINT;
}

/** What the statement decided, times on PostgreSQL's clock. */
export interface RecordedJob {
  id: string;
  /** Jobs of the account that wait before this one. */
  ahead: number;
  createdAt: Date;
  deadlineAt: Date;
  expiresAt: Date;
  /** The caps of which half or more is used; null: none. */
  spend: SpendStanding[] | null;
}

/** A submission recorded alone, and the turns that its statement gave beside that. */
export interface RecordedAlone extends RecordedJob {
  turns: Turn[];
}

/** The SQL that records a submission. */
export class SubmissionStore {
  constructor(private readonly settings: JobSettings) {}

  /** An id for a job that is to be recorded; see `JobDraft.id`. */
  async newId(statements: Statements): Promise<string> {
    const [row] = await statements.rows<{ id: string }>(Prisma.sql`SELECT new_job_id() AS id`);
    if (row === undefined) throw new Error('PostgreSQL returned no id');
    return row.id;
  }

  /**
   * Record a job in one statement: its key, its place in the account's queue, its hold, the job, the graph, the inputs and
   * the first transition, all or nothing. One statement commits at two to three times the rate of the same five in a
   * transaction. The parts form a chain, so that locks are always taken in one order (key, deployment, models, queue, labels, balance) and the first
   * reason to refuse is the same every time. The graph, which may be 10 MB, is written before any lock that others wait for, and
   * after a look at what would refuse it.
   *
   * @param offer turns that are given once the job waits, to those whose turn it is; null: none.
   * @throws RefusedError KEY_REUSED, ACCOUNT_CLOSED, SUB_KEY_REVOKED, DEPLOYMENT_DELETED, DEPLOYMENT_DELETING, STORAGE_FULL, QUEUE_FULL, INSUFFICIENT_CREDITS, MODEL_GONE, or a limit of a label, an account or a key; ConstraintError on INPUT_ASSET_CONSTRAINT.
   */
  async record(statements: Statements, draft: JobDraft, offer: TurnOffer | null = null): Promise<RecordedAlone> {
    const id = statementPart<'id'>('identity')`SELECT coalesce(${draft.id}::uuid, new_job_id()) AS id`;
    const room = hasRoomPart(
      draft,
      storageNotFullPart(
        draft,
        openDeploymentPart(draft.deploymentId, openAccountPart(draft, this.keyPart(draft, id))),
      ),
    );
    const graph = graphPart(draft, id, useModelsPart(draft, this.coveredPart(draft, room)));
    const queue = joinRotationPart(draft, id, graph);
    const { counted, standing, allowed } = labelParts(draft, queue);
    const job = this.jobPart(draft, id, this.holdPart(draft, id, allowed), counted);
    const turn = offer === null ? statementPart('turn')`SELECT` : turnsPart(draft.poolId, offer, job);
    const rows = await statements.rows<RecordedJob & TurnRow>(composeStatement(belongings(draft, job))`
      SELECT job.id, queue.waiting - 1 AS ahead, job.created_at, job.deadline_at, job.expires_at,
        (SELECT spend FROM ${standing}) AS spend, turn.*
      FROM ${job} job, ${queue} queue LEFT JOIN ${turn} turn ON true`);
    const [recorded] = rows;
    if (recorded === undefined) throw new Error('the submission recorded nothing');
    return { ...recorded, turns: offer === null ? [] : rows.map(turnOf) };
  }

  /** Without a key there is nothing to claim, and nothing to wait for. */
  private keyPart({ accountId, idempotencyKey: key }: JobDraft, id: StatementPart<'id'>): StatementPart {
    if (key === null) return statementPart('key')`SELECT`;
    const lifetimeSeconds = this.settings.idempotencySeconds;
    return claimKeyPart({ accountId, operation: 'postJobs', key, lifetimeSeconds }, id);
  }

  private coveredPart({ accountId, holdMicros }: JobDraft, room: StatementPart): StatementPart {
    return holdMicros === 0n ? room : coversHoldPart({ accountId, amountMicros: holdMicros }, room);
  }

  private holdPart({ accountId, holdMicros }: JobDraft, id: StatementPart<'id'>, queue: StatementPart): StatementPart {
    return holdMicros === 0n ? queue : holdPart({ accountId, job: id, amountMicros: holdMicros }, queue);
  }

  private jobPart(
    draft: JobDraft,
    id: StatementPart<'id'>,
    after: StatementPart,
    counted: StatementPart<'limited_labels' | 'retention_seconds'>,
  ): StatementPart<'id' | 'created_at' | 'deadline_at' | 'expires_at'> {
    const { jobExecutionDeadlineSeconds, maxAttempts } = this.settings;
    const ends = deadlineAndExpiry(
      Prisma.sql`created_at_of(i.id)`,
      Prisma.sql`kept.seconds`,
      jobExecutionDeadlineSeconds,
    );
    return statementPart<'id' | 'created_at' | 'deadline_at' | 'expires_at'>('job')`
      INSERT INTO jobs (id, created_at, updated_at, account_id, pool_id, surface, deployment_id, api_key_id, max_attempts, deadline_at,
        expires_at, has_secrets, price_micros_per_second, held_micros, spend_limit_micros, metadata, models, traceparent,
        retry_max, retry_codes, retry_pause_seconds, limited_labels)
      SELECT i.id, created_at_of(i.id), created_at_of(i.id), ${draft.accountId}::uuid, ${draft.poolId}, ${draft.surface},
        ${draft.deploymentId}::uuid, ${draft.apiKeyId}::uuid, ${maxAttempts},
        ${ends}, ${draft.hasSecrets}, ${draft.priceMicrosPerSecond}, ${draft.holdMicros}, ${draft.spendLimitMicros}::bigint,
        ${JSON.stringify(draft.metadata)}::jsonb, ${draft.models.length > 0 ? draft.models : null}::text[],
        ${draft.traceparent}, ${draft.retry?.max ?? 0}, ${draft.retry?.on ?? null}::text[], ${draft.retry?.pause_seconds ?? 0},
        (SELECT limited_labels FROM ${counted})
      FROM ${id} i, ${after},
        LATERAL (SELECT least(${draft.retentionSeconds}::float8, (SELECT retention_seconds FROM ${counted})) AS seconds) kept
      RETURNING id, created_at, deadline_at, expires_at`;
  }
}

/** The graph. Its foreign key is checked at the end of the statement, when the job is there. */
function graphPart(
  { workflow, nodeCount, workKey, reuseKey }: JobDraft,
  id: StatementPart<'id'>,
  after: StatementPart,
): StatementPart {
  return statementPart('graph')`
    INSERT INTO job_graphs (job_id, workflow, node_count, work_key, reuse_key)
    SELECT i.id, ${workflow}, ${nodeCount}, ${workKey}::bigint, ${reuseKey}::bytea FROM ${id} i, ${after} RETURNING 1`;
}

/** What belongs to a job from its start beside the graph: the first transition, the assets that it reads. */
function belongings(draft: JobDraft, job: StatementPart<'id'>): StatementPart[] {
  const transition = statementPart('transition')`
    INSERT INTO job_transitions (job_id, seq, to_status, attempt, cause)
    SELECT id, 1, 'queued', 0, 'submitted' FROM ${job}`;
  if (draft.inputAssetIds.length === 0) return [transition];
  const inputs = statementPart('inputs')`
    INSERT INTO job_inputs (job_id, asset_id)
    SELECT job.id, input.id FROM ${job} job, unnest(${draft.inputAssetIds}::uuid[]) AS input (id)`;
  return [transition, inputs];
}

/** The rules and caps that the one job is counted by. */
function labelParts(
  { accountId, apiKeyId, metadata, holdMicros }: JobDraft,
  after: StatementPart,
): ReturnType<typeof countLabelsParts> {
  const labelled = statementPart<'place' | 'account_id' | 'api_key_id' | 'metadata' | 'hold_micros'>('labelled')`
    SELECT 1 AS place, ${accountId}::uuid AS account_id, ${apiKeyId}::uuid AS api_key_id, ${JSON.stringify(metadata)}::jsonb AS metadata,
      ${holdMicros}::bigint AS hold_micros`;
  return countLabelsParts(labelled, after);
}
