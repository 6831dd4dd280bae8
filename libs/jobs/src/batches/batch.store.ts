import { Prisma } from '@prisma/client';
import { isTerminal, type JobStatus } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { storableJson, type JobPlace, type JobScope } from '../state';
import type { BatchDraft, BatchPlace, BatchRecord } from './batch';

/** The jobs of a batch that are in one state, and what these and earlier ones that were tried again cost. */
interface StatusRow {
  status: JobStatus;
  jobs: number;
  charged: number;
  endedAt: string | null;
}

/** A batch as `columns` read it. */
export type BatchRow = Pick<
  BatchRecord,
  'id' | 'itemCount' | 'jobCount' | 'refused' | 'retries' | 'createdAt' | 'expiresAt'
> &
  JobPlace & { states: StatusRow[]; recordedEndAt: Date | null };

/** A batch that a key names. */
export interface KeyedBatch extends JobPlace {
  id: string;
  requestHash: Uint8Array;
}

/** How much of why jobs were refused is read: the first refusals that are together no longer than this, as JSON in UTF-8. */
interface RefusedShown {
  bytes: number;
  details: boolean;
}

/** What is recorded, and shown of one batch. A refusal of some hundred characters is usual; one has up to 5,000 (`itemFaultOf`). */
const ALL_REFUSED: RefusedShown = { bytes: 65_536, details: true };
/** What is shown where many batches are in one answer, or one batch is sent again and again. */
export const FIRST_REFUSED: RefusedShown = { bytes: 4_096, details: false };

/**
 * The first of the refusals in a JSON array. Also where they are read: a version before recorded up to half a megabyte of them.
 *
 * @param refused of the type `jsonb`.
 */
function firstOf(refused: Prisma.Sql, { bytes, details }: RefusedShown): Prisma.Sql {
  const shown = details ? Prisma.sql`e.fault` : Prisma.sql`e.fault || '{"details": null}'::jsonb`;
  return Prisma.sql`coalesce((
    SELECT jsonb_agg(s.fault ORDER BY s.place) FROM (
      SELECT f.fault, f.place, sum(octet_length(f.fault::text)) OVER (ORDER BY f.place) AS bytes
      FROM (SELECT ${shown} AS fault, e.place FROM jsonb_array_elements(${refused}) WITH ORDINALITY AS e(fault, place)) f
    ) s WHERE s.bytes <= ${bytes}::int
  ), '[]'::jsonb)`;
}

/**
 * Its counts come from its jobs, by one index: nothing is written for them when a job moves. A job that was tried again has no index
 * any more: it counts for the cost alone.
 */
export const columns = (shown: RefusedShown): Prisma.Sql => Prisma.sql`
  b.id, b.account_id, b.surface, b.deployment_id, b.item_count, b.job_count, b.retries, b.created_at, b.expires_at,
  ${firstOf(Prisma.sql`b.refused`, shown)} AS refused,
  b.completed_at AS recorded_end_at, coalesce((
    SELECT json_agg(json_build_object('status', s.status, 'jobs', s.jobs, 'charged', s.charged, 'endedAt', s.ended_at))
    FROM (
      SELECT j.status, count(j.batch_index) AS jobs, coalesce(sum(j.charged_micros), 0) AS charged,
        max(j.completed_at) FILTER (WHERE j.batch_index IS NOT NULL) AS ended_at
      FROM jobs j WHERE j.batch_id = b.id GROUP BY j.status
    ) s
  ), '[]'::json) AS states`;

/** The condition on the row `b` of a batch that can be read there; by a sub-key, one that was submitted with its labels. */
export function isInScope({ accountId, surface, deploymentId, labels }: JobScope): Prisma.Sql {
  const hasLabels = labels === null ? Prisma.sql`true` : Prisma.sql`b.labels @> ${JSON.stringify(labels)}::jsonb`;
  return Prisma.sql`b.account_id = ${accountId}::uuid AND b.surface = ${surface}
    AND b.deployment_id IS NOT DISTINCT FROM ${deploymentId}::uuid AND b.expires_at > now() AND ${hasLabels}`;
}

/** How long a request to cancel waits for a locked batch, with a connection. */
const CANCEL_WAIT_MS = 250;

/** The SQL of batches, beside that which records and moves their jobs. */
export class BatchStore {
  /**
   * Record a batch, in the transaction that records its jobs. A concurrent request with the same key waits here for the first to
   * commit.
   *
   * @returns false when the key names another batch: nothing is written then.
   */
  async create(tx: Statements, batch: BatchDraft): Promise<boolean> {
    const created = await tx.execute(Prisma.sql`
      INSERT INTO batches (id, account_id, surface, deployment_id, idempotency_key, request_hash, item_count, job_count, refused,
        labels, expires_at)
      VALUES (${batch.id}::uuid, ${batch.accountId}::uuid, ${batch.surface}, ${batch.deploymentId}::uuid, ${batch.idempotencyKey},
        ${batch.requestHash}, ${batch.itemCount}, ${batch.jobCount},
        ${firstOf(Prisma.sql`${storableJson(batch.refused)}::jsonb`, ALL_REFUSED)},
        ${batch.labels && JSON.stringify(batch.labels)}::jsonb,
        now() + make_interval(secs => ${batch.retentionSeconds}))
      ON CONFLICT (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING`);
    return created === 1;
  }

  /** The batch that a key of the account names, on any surface. */
  async findByKey(statements: Statements, accountId: string, key: string): Promise<KeyedBatch | null> {
    const [row] = await statements.rows<KeyedBatch>(Prisma.sql`
      SELECT id, account_id, surface, deployment_id, request_hash FROM batches
      WHERE account_id = ${accountId}::uuid AND idempotency_key = ${key}`);
    return row ?? null;
  }

  async find(statements: Statements, scope: JobScope, id: string): Promise<BatchRecord | null> {
    const [row] = await statements.rows<BatchRow>(this.findSql(scope, id));
    return row === undefined ? null : recordOf(row);
  }

  /** On any surface of the account. */
  async findOfAccount(statements: Statements, accountId: string, id: string): Promise<BatchRecord | null> {
    const [row] = await statements.rows<BatchRow>(Prisma.sql`
      SELECT ${columns(ALL_REFUSED)} FROM batches b
      WHERE b.id = ${id}::uuid AND b.account_id = ${accountId}::uuid AND b.expires_at > now()`);
    return row === undefined ? null : recordOf(row);
  }

  /** The statement of `find`, whose plan a test checks. */
  findSql(scope: JobScope, id: string): Prisma.Sql {
    return Prisma.sql`SELECT ${columns(ALL_REFUSED)} FROM batches b WHERE b.id = ${id}::uuid AND ${isInScope(scope)}`;
  }

  /** Newest first, one more than `limit` where there is one, with few of their refusals (`FIRST_REFUSED`). @param before only older ones than this id. */
  async list(
    statements: Statements,
    scope: JobScope,
    { before, limit }: { before: string | null; limit: number },
  ): Promise<BatchRecord[]> {
    const rows = await statements.rows<BatchRow>(Prisma.sql`
      SELECT ${columns(FIRST_REFUSED)} FROM batches b
      WHERE ${isInScope(scope)} AND (${before}::uuid IS NULL OR b.id < ${before}::uuid)
      ORDER BY b.id DESC LIMIT ${limit + 1}`);
    return rows.map(recordOf);
  }

  /** True when the batch can be read there. */
  async exists(statements: Statements, scope: JobScope, id: string): Promise<boolean> {
    const rows = await statements.query(Prisma.sql`
      SELECT 1 FROM batches b WHERE b.id = ${id}::uuid AND ${isInScope(scope)}`);
    return rows.length > 0;
  }

  /** Its jobs in its order, at most `limit`. @param after only those with a higher index. */
  async places(
    statements: Statements,
    batchId: string,
    { after, limit, status }: { after: number; limit: number; status: JobStatus | null },
  ): Promise<BatchPlace[]> {
    return statements.rows(Prisma.sql`
      SELECT j.id AS job_id, j.batch_index AS index, (SELECT count(*) FROM job_outputs o WHERE o.job_id = j.id)::int AS outputs FROM jobs j
      WHERE j.batch_id = ${batchId}::uuid AND j.batch_index > ${after} AND (${status}::text IS NULL OR j.status = ${status})
      ORDER BY j.batch_index LIMIT ${limit}`);
  }

  /**
   * Have all its jobs canceled.
   *
   * @returns false when the batch is not there.
   * @throws an error with SQLSTATE 55P03 (see `isLockTimeout`) while its jobs are being tried again, which keeps its row locked for as long as that takes.
   */
  async requestCancel(statements: Statements, scope: JobScope, id: string): Promise<boolean> {
    const found = await statements.execute(Prisma.sql`
      UPDATE batches b SET canceling = true FROM (SELECT set_config('lock_timeout', ${`${CANCEL_WAIT_MS}ms`}, true)) AS bounded
      WHERE b.id = ${id}::uuid AND ${isInScope(scope)}`);
    return found === 1;
  }
}

/**
 * Jobs that are gone had ended: only such are deleted, by their retention or an erasure. The recorded end outlasts them; where all were
 * gone before it was recorded, the batch is active until it is, a second at most.
 */
export function recordOf({ states, recordedEndAt, ...row }: BatchRow): BatchRecord {
  const ended = states.filter(({ status }) => isTerminal(status));
  const live = states.filter(({ status }) => !isTerminal(status)).reduce((sum, { jobs }) => sum + jobs, 0);
  const times = ended.flatMap(({ endedAt }) => (endedAt === null ? [] : [new Date(endedAt).getTime()]));
  const lastEndAt = times.length > 0 ? new Date(Math.max(...times)) : null;
  return {
    ...row,
    counts: Object.fromEntries(states.flatMap(({ status, jobs }) => (jobs === 0 ? [] : [[status, jobs] as const]))),
    chargedMicros: ended.reduce((sum, { charged }) => sum + charged, 0),
    ended: row.jobCount - live,
    completedAt: live > 0 ? null : (recordedEndAt ?? lastEndAt),
  };
}
