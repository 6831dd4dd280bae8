import { Prisma } from '@prisma/client';
import { openAccountPart } from '@millrace/accounts';
import { REUSE_OUTPUT_LIMIT } from '@millrace/contracts';
import { claimKeyPart, composeStatement, statementPart, type StatementPart, type Statements } from '@millrace/database';
import { versionOfJob } from '@millrace/deployments';
import { recordJobEndPart } from '@millrace/webhooks';
import type { JobSettings } from '../job.settings';
import {
  deadlineAndExpiry,
  hasLabels,
  sourceShown,
  type JobOutputRecord,
  type JobPlace,
  type JobScope,
} from '../state';
import { retentionByLabel } from '../labels';
import { lastLogPart } from '../lifecycle';

/** The reason with which the statement refuses itself when the earlier job is no longer there, or not whole. */
export const REUSE_GONE = 'reuse_gone';

/** A job that is to be answered with the outputs of an earlier one. */
export interface ReusedDraft extends JobPlace {
  poolId: string;
  apiKeyId: string | null;
  /** See `JobDraft.subKeyId`. */
  subKeyId: string | null;
  workflow: string;
  nodeCount: number;
  workKey: bigint;
  reuseKey: Buffer | null;
  metadata: Record<string, string>;
  models: string[];
  idempotencyKey: string | null;
  /** How long the job is kept, outputs and all. */
  retentionSeconds: number;
  priceMicrosPerSecond: bigint;
  traceparent: string | null;
}

/** An earlier job whose outputs are there to be reused. */
export interface ReuseSource {
  id: string;
  /** The job that ran, as the scope may know it; null when a sub-key does not find it. */
  reusedFrom: string | null;
}

/** A reused job as it was recorded. */
export interface ReusedJob {
  id: string;
  createdAt: Date;
  deadlineAt: Date;
  expiresAt: Date;
  /** The job that ran. */
  reusedFrom: string;
  outputs: JobOutputRecord[];
}

/** The latest jobs with a key among which one is looked for: others of them may run, wait or have failed. */
const AMONG = 100;

type JobColumn = 'id' | 'account_id' | 'api_key_id' | 'deployment_id' | 'surface' | 'status' | 'attempt' | 'expires_at';

/** The SQL of jobs that are answered with earlier outputs. */
export class ReuseStore {
  constructor(
    private readonly settings: Pick<JobSettings, 'idempotencySeconds' | 'jobExecutionDeadlineSeconds' | 'maxAttempts'>,
  ) {}

  /** The latest job of the account, for a sub-key of those with its labels, with this key that has succeeded, is kept, and has outputs, few enough to be reused, of whose bytes nothing bad is known. */
  async find(
    statements: Statements,
    scope: Pick<JobScope, 'accountId' | 'labels'>,
    key: Buffer,
  ): Promise<ReuseSource | null> {
    const [found] = await statements.rows<ReuseSource>(this.findSql(scope, key));
    return found ?? null;
  }

  /** The statement of `find`, whose plan a test checks. */
  findSql({ accountId, labels }: Pick<JobScope, 'accountId' | 'labels'>, key: Buffer): Prisma.Sql {
    const isOwn = labels === null ? Prisma.sql`true` : hasLabels(labels);
    return Prisma.sql`
      SELECT j.id, CASE WHEN j.reused_from IS NULL THEN j.id ELSE ${sourceShown(labels)} END AS reused_from
      FROM (SELECT job_id FROM job_graphs WHERE reuse_key = ${key} ORDER BY job_id DESC LIMIT ${AMONG}) g
      JOIN jobs j ON j.id = g.job_id
      WHERE j.account_id = ${accountId}::uuid AND ${isReusable} AND ${isOwn}
        AND (SELECT count(*) FROM job_outputs o WHERE o.job_id = j.id) BETWEEN 1 AND ${REUSE_OUTPUT_LIMIT}
        AND NOT EXISTS (
          SELECT 1 FROM job_outputs o JOIN assets a ON a.id = o.asset_id JOIN blobs b ON b.account_id = a.account_id AND b.hash = a.hash
          WHERE o.job_id = j.id AND NOT (${isSound}))
      ORDER BY j.id DESC LIMIT 1`;
  }

  /**
   * Record a job as succeeded with the outputs of an earlier one, in one statement: its key, the job, its history, the graph, assets of
   * its own over the same blobs, the record of use, the messages of webhooks. The earlier job is locked, so that neither it nor what
   * it made can go before that is done. Locks are taken in the order that holds everywhere: key, job, blobs.
   *
   * @param sourceId what `find` found.
   * @throws RefusedError KEY_REUSED; ACCOUNT_CLOSED; SUB_KEY_REVOKED; REUSE_GONE when the earlier job went meanwhile: nothing was recorded.
   */
  async record(statements: Statements, draft: ReusedDraft, sourceId: string): Promise<ReusedJob> {
    const id = statementPart<'id'>('identity')`SELECT new_job_id() AS id`;
    const source = sourcePart(draft, sourceId, openAccountPart(draft, this.keyPart(draft, id)));
    const made = madePart(draft, source);
    const job = this.jobPart(draft, id, wholePart(draft, source, made));
    const [recorded] = await statements.rows<ReusedJob>(
      composeStatement([...belongings(draft, job), ...outputParts(draft, job, made)])`
      SELECT job.id, job.created_at, job.deadline_at, job.expires_at, job.reused_from, (
        SELECT json_agg(json_build_object('nodeId', m.node_id, 'ordinal', m.ordinal, 'name', m.name, 'type', m.type,
          'assetId', m.asset_id, 'contentType', m.content_type, 'sizeBytes', m.size_bytes, 'hash', m.hash) ORDER BY m.ordinal)
        FROM ${made} m) AS outputs
      FROM ${job} job`,
    );
    if (recorded === undefined) throw new Error('the reused job was not recorded');
    return recorded;
  }

  private keyPart({ accountId, idempotencyKey: key }: ReusedDraft, id: StatementPart<'id'>): StatementPart {
    if (key === null) return statementPart('key')`SELECT`;
    const lifetimeSeconds = this.settings.idempotencySeconds;
    return claimKeyPart({ accountId, operation: 'postJobs', key, lifetimeSeconds }, id);
  }

  private jobPart(
    draft: ReusedDraft,
    id: StatementPart<'id'>,
    whole: StatementPart<'reused_from'>,
  ): StatementPart<JobColumn> {
    const { jobExecutionDeadlineSeconds, maxAttempts } = this.settings;
    const byLabel = retentionByLabel(draft.accountId, draft.metadata);
    const ends = deadlineAndExpiry(
      Prisma.sql`created_at_of(i.id)`,
      Prisma.sql`kept.seconds`,
      jobExecutionDeadlineSeconds,
    );
    return statementPart<JobColumn>('job')`
      INSERT INTO jobs (id, created_at, updated_at, completed_at, account_id, pool_id, surface, deployment_id, api_key_id, status, delivery,
        max_attempts, seq, deadline_at, expires_at, price_micros_per_second, charged_micros, metadata, models, traceparent, reused_from)
      SELECT i.id, created_at_of(i.id), created_at_of(i.id), created_at_of(i.id), ${draft.accountId}::uuid, ${draft.poolId}, ${draft.surface},
        ${draft.deploymentId}::uuid, ${draft.apiKeyId}::uuid, 'succeeded', 'done', ${maxAttempts}, 2,
        ${ends}, ${draft.priceMicrosPerSecond}, 0,
        ${JSON.stringify(draft.metadata)}::jsonb, ${draft.models.length > 0 ? draft.models : null}::text[], ${draft.traceparent},
        whole.reused_from
      FROM ${id} i, ${whole} whole, LATERAL (SELECT least(${draft.retentionSeconds}::float8, ${byLabel}) AS seconds) kept
      RETURNING *`;
  }
}

/** Of a job `j`: its outputs are all there, because they stay as long as their job. */
const isReusable = Prisma.sql`j.status = 'succeeded' AND j.expires_at > now()`;

/** Of a blob `b`: it can be referred to, and nothing bad is known of its bytes. What an estimate finds is what a submission takes. */
const isSound = Prisma.sql`b.orphaned_at IS NULL AND b.lost_at IS NULL AND b.damaged_at IS NULL`;

/** The earlier job, which cannot be deleted before the statement has committed; no row when it is gone. */
function sourcePart(
  { accountId }: ReusedDraft,
  sourceId: string,
  after: StatementPart,
): StatementPart<'id' | 'reused_from'> {
  return statementPart<'id' | 'reused_from'>('source')`
    SELECT j.id, coalesce(j.reused_from, j.id) AS reused_from FROM ${after}, jobs j
    WHERE j.id = ${sourceId}::uuid AND j.account_id = ${accountId}::uuid AND ${isReusable} FOR KEY SHARE OF j`;
}

type MadeColumn =
  | 'asset_id'
  | 'node_id'
  | 'node_index'
  | 'ordinal'
  | 'name'
  | 'type'
  | 'hash'
  | 'size_bytes'
  | 'content_type'
  | 'file_path';

/** What the earlier job made, with the ids of the new assets. */
function madePart({ accountId }: ReusedDraft, source: StatementPart<'id'>): StatementPart<MadeColumn> {
  return statementPart<MadeColumn>('made')`
    SELECT new_job_id() AS asset_id, o.node_id, o.node_index, o.ordinal, o.name, o.type, a.hash, a.size_bytes, a.content_type, a.file_path
    FROM ${source} source JOIN job_outputs o ON o.job_id = source.id
    JOIN assets a ON a.id = o.asset_id AND a.account_id = ${accountId}::uuid`;
}

/** The job that ran, when the earlier one and all its blobs are there, and nothing bad is known of their bytes; locks the blobs: no sweep orphans one before the new assets refer to it. */
function wholePart(
  { accountId }: ReusedDraft,
  source: StatementPart<'reused_from'>,
  made: StatementPart<MadeColumn>,
): StatementPart<'reused_from'> {
  const locked = statementPart<'hash'>('locked')`
    SELECT b.hash FROM blobs b WHERE b.account_id = ${accountId}::uuid AND b.hash IN (SELECT hash FROM ${made})
      AND ${isSound}
    ORDER BY b.hash FOR NO KEY UPDATE`;
  return statementPart<'reused_from'>('whole')`
    SELECT (SELECT reused_from FROM ${source}) AS reused_from WHERE (
      (SELECT count(DISTINCT hash) FROM ${made}) = (SELECT count(*) FROM ${locked})
      AND (SELECT count(*) FROM ${made}) BETWEEN 1 AND ${REUSE_OUTPUT_LIMIT}) OR refuse(${REUSE_GONE})`;
}

/** The assets of the new job, which expire with it, and its outputs: of no attempt, because there is none. */
function outputParts(
  { accountId }: ReusedDraft,
  job: StatementPart<'id' | 'expires_at'>,
  made: StatementPart<MadeColumn>,
): StatementPart[] {
  const assets = statementPart('assets_made')`
    INSERT INTO assets (id, account_id, hash, size_bytes, content_type, file_path, tags, job_id, expires_at)
    SELECT m.asset_id, ${accountId}::uuid, m.hash, m.size_bytes, m.content_type, m.file_path, '{}'::text[], job.id, job.expires_at
    FROM ${job} job, ${made} m RETURNING 1`;
  const outputs = statementPart('outputs_made')`
    INSERT INTO job_outputs (job_id, node_id, node_index, attempt, ordinal, name, type, asset_id)
    SELECT job.id, m.node_id, m.node_index, 0, m.ordinal, m.name, m.type, m.asset_id
    FROM ${job} job, ${made} m, (SELECT count(*) FROM ${assets}) AS done`;
  return [outputs];
}

/** What belongs to a job that has ended: its history, its graph, its log, its use, and the messages of its end. */
function belongings(draft: ReusedDraft, job: StatementPart<JobColumn>): StatementPart[] {
  const graph = statementPart('graph')`
    INSERT INTO job_graphs (job_id, workflow, node_count, work_key, reuse_key)
    SELECT id, ${draft.workflow}, ${draft.nodeCount}, ${draft.workKey}::bigint, ${draft.reuseKey} FROM ${job}`;
  const transitions = statementPart('transitions')`
    INSERT INTO job_transitions (job_id, seq, from_status, to_status, attempt, cause)
    SELECT job.id, move.seq, move.from_status, move.to_status, 0, move.cause FROM ${job} job, (VALUES
      (1, NULL, 'queued', 'submitted'), (2, 'queued', 'succeeded', 'earlier outputs reused')) AS move (seq, from_status, to_status, cause)`;
  const usage = statementPart('usage')`
    INSERT INTO usage_records (job_id, account_id, api_key_id, deployment_id, deployment_version, status, billable_ms, charged_micros,
      labels, finished_at)
    SELECT id, account_id, api_key_id, deployment_id, ${versionOfJob}, status, billable_ms, charged_micros, metadata, completed_at
    FROM ${job} WHERE surface <> 'self_hosted'`;
  return [graph, transitions, lastLogPart(job, null), usage, recordJobEndPart(job)];
}
