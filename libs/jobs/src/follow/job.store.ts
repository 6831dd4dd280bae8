import { Prisma } from '@prisma/client';
import { isTerminal, type JobMetadata, type JobStatus } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import {
  boundedFailure,
  hasLabels,
  isInScope,
  isInScopeAsked,
  sourceShown,
  sourceShownAsked,
  type JobLog,
  type JobRecord,
  type JobScope,
  type JobTransitionRecord,
  type NodeTiming,
} from '../state';
import type { JobFacts } from './job-version';

export interface JobFilter {
  status: JobStatus | null;
  metadata: JobMetadata;
  /** Only jobs older than this id. */
  before: string | null;
  /** Only jobs with this id or a newer one. */
  since: string | null;
  limit: number;
}

/** A job as it comes from PostgreSQL: sums of money are bigints, and a time inside a document is a text. */
interface JobRow extends Omit<JobRecord, 'chargedMicros' | 'logs'> {
  chargedMicros: bigint | null;
  logs: (JobLog & { complete: boolean; capturedAt: string }) | null;
}

/** A transition inside a document. */
type TransitionRow = Omit<JobTransitionRecord, 'at'> & { at: string };

/** `JobFacts`, and what a place in the queue follows from. */
export type JobFactsRow = JobFacts & Pick<JobRecord, 'id' | 'accountId' | 'poolId' | 'delivery'>;

/** A job of a scope, with or without what its run printed. */
export interface AskedJob {
  scope: JobScope;
  /** A UUID. */
  id: string;
  withLogs: boolean;
}

/**
 * So many rows are found for a page of fewer. They stand in the text of the statement, where the planner sees that they are few. Of a parameter it
 * expects a tenth of the account's jobs, and so plans each list of a large account again, which takes longer than running it.
 */
const FOUND_AT_ONCE = [21, 51, 101];
/** Of UUIDs: no id is above it. */
const HIGHEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
/** A page of jobs ends with the job that has the last of as many. An output is some 500 bytes of an answer. */
export const OUTPUTS_OF_A_PAGE = 1_000;
/** Of PostgreSQL's smallint. */
const LOWEST_PRIORITY = -32_768;

/*
 * OFFSET 0 below has a row found by its key for each that names it. Else the planner joins whole tables while they are small, by a plan that
 * is kept while they grow (README of the database lib).
 */

/** The jobs that rows `asked` name, in any scope. */
const jobsAsked = Prisma.sql`CROSS JOIN LATERAL (SELECT * FROM jobs WHERE id = asked.id OFFSET 0) j`;

/** Outputs with their assets, in order, as one value. */
const outputsColumn = Prisma.sql`
  coalesce((
    SELECT json_agg(json_build_object('nodeId', o.node_id, 'ordinal', o.ordinal, 'name', o.name, 'type', o.type,
      'assetId', o.asset_id, 'contentType', a.content_type, 'sizeBytes', a.size_bytes, 'hash', a.hash)
      ORDER BY o.attempt, o.ordinal)
    FROM job_outputs o CROSS JOIN LATERAL (SELECT * FROM assets WHERE id = o.asset_id OFFSET 0) a WHERE o.job_id = j.id
  ), '[]'::json) AS outputs`;

/** @param source the job that ran, as the scope may know it. */
const jobColumns = (source: Prisma.Sql): Prisma.Sql => Prisma.sql`
  j.id, j.account_id, j.pool_id, j.surface, j.deployment_id, j.status, j.delivery, j.attempt, j.seq, j.created_at,
  j.started_at, j.completed_at, j.deadline_at, j.expires_at, j.updated_at, j.progress, j.error, j.metadata, j.charged_micros,
  j.reused_from IS NOT NULL AS is_reused, ${source} AS reused_from, j.cached_nodes`;

/** The SQL that reads jobs. Every method takes the scope: a job of another account or surface is not found. */
export class JobStore {
  /**
   * One statement: each row with its outputs, and its logs where they are asked for and the job has ended.
   *
   * @returns in the order of `asks`; null where the scope has no such job.
   */
  async findAsked(statements: Statements, asks: readonly AskedJob[]): Promise<(JobRecord | null)[]> {
    const rows = await statements.rows<JobRow & { at: number }>(this.findAskedSql(asks));
    return inOrder(asks, rows).map((row) => row && recordOf(row));
  }

  /** The statement of `findAsked`, whose plan a test checks. */
  findAskedSql(asks: readonly AskedJob[]): Prisma.Sql {
    return Prisma.sql`
      SELECT asked.at::int, ${jobColumns(sourceShownAsked)}, ${outputsColumn}, CASE WHEN asked.with_logs THEN (
        SELECT json_build_object('text', l.text, 'truncated', l.truncated, 'complete', l.complete,
          'capturedAt', l.captured_at) FROM job_logs l WHERE l.job_id = j.id AND j.delivery = 'done') END AS logs
      FROM ${rowsOf(asks)} ${jobsAsked} WHERE ${isInScopeAsked}`;
  }

  /** Jobs of any accounts and surfaces, each named with its account; those past their retention are left out. */
  async findEach(statements: Statements, jobs: readonly { accountId: string; jobId: string }[]): Promise<JobRecord[]> {
    const rows = await statements.rows<JobRow>(Prisma.sql`
      SELECT ${jobColumns(sourceShown(null))}, ${outputsColumn}, NULL::json AS logs
      FROM unnest(${jobs.map(({ accountId }) => accountId)}::uuid[], ${jobs.map(({ jobId }) => jobId)}::uuid[]) AS asked (account_id, id)
      ${jobsAsked} WHERE j.account_id = asked.account_id AND j.expires_at > now()`);
    return rows.map(recordOf);
  }

  /** The job and its transitions after number `afterSeq`, in order, as of one moment: the last of them made it what it is. */
  async findSince(
    statements: Statements,
    scope: JobScope,
    id: string,
    afterSeq: number,
  ): Promise<{ job: JobRecord; transitions: JobTransitionRecord[] } | null> {
    const [row] = await statements.rows<JobRow & { transitions: TransitionRow[] }>(Prisma.sql`
      SELECT ${jobColumns(sourceShown(scope.labels))}, ${outputsColumn}, NULL::json AS logs, coalesce((
        SELECT json_agg(json_build_object('seq', t.seq, 'status', t.to_status, 'at', t.at) ORDER BY t.seq)
        FROM job_transitions t WHERE t.job_id = j.id AND t.seq > ${afterSeq}
      ), '[]'::json) AS transitions
      FROM jobs j WHERE j.id = ${id}::uuid AND ${isInScope(scope)}`);
    if (row === undefined) return null;
    const { transitions, ...job } = row;
    return { job: recordOf(job), transitions: transitions.map((made) => ({ ...made, at: new Date(made.at) })) };
  }

  /**
   * What decides whether `findAsked` would show anything new: by primary keys, without outputs' assets and logs' texts.
   *
   * @returns in the order of `asks`; null where the scope has no such job.
   */
  async factsAsked(statements: Statements, asks: readonly AskedJob[]): Promise<(JobFactsRow | null)[]> {
    const rows = await statements.rows<JobFactsRow & { at: number }>(this.factsAskedSql(asks));
    return inOrder(asks, rows);
  }

  /** The statement of `factsAsked`, whose plan a test checks. */
  factsAskedSql(asks: readonly AskedJob[]): Prisma.Sql {
    return Prisma.sql`
      SELECT asked.at::int, j.id, j.account_id, j.pool_id, j.status, j.delivery, j.seq, j.progress, ${sourceShownAsked} AS reused_from,
        CASE WHEN asked.with_logs THEN (
          SELECT l.captured_at FROM job_logs l WHERE l.job_id = j.id AND j.delivery = 'done') END AS logged_at,
        CASE WHEN j.delivery = 'done' THEN '{}' ELSE array(
          SELECT o.asset_id FROM job_outputs o WHERE o.job_id = j.id ORDER BY o.attempt, o.ordinal
        ) END AS output_ids
      FROM ${rowsOf(asks)} ${jobsAsked} WHERE ${isInScopeAsked}`;
  }

  /**
   * Newest first: as many as `limit`, and fewer where they have very many outputs.
   *
   * @returns with them whether there are more behind them.
   */
  async list(
    statements: Statements,
    scope: JobScope,
    filter: JobFilter,
  ): Promise<{ jobs: JobRecord[]; more: boolean }> {
    const rows = await statements.rows<JobRow & { found: number }>(this.listSql(scope, filter));
    const jobs = rows.map(recordOf);
    return { jobs, more: (rows[0]?.found ?? 0) > jobs.length };
  }

  /**
   * The statement of `list`: it finds one more than asked for at least, and of those shows only so many that their outputs fit on a page. Its plans a test checks: a page costs the rows it shows, however many others the account has.
   * (Of IS NOT DISTINCT FROM, by which single jobs are found, the planner expects one row in 200, and so reads and sorts the
   * whole table.)
   */
  listSql(
    { accountId, surface, deploymentId, labels }: JobScope,
    { before, since, status, metadata, limit }: JobFilter,
  ): Prisma.Sql {
    const conditions = [
      Prisma.sql`j.account_id = ${accountId}::uuid AND j.surface = ${surface} AND j.expires_at > now()`,
      deploymentId === null ? Prisma.sql`j.deployment_id IS NULL` : Prisma.sql`j.deployment_id = ${deploymentId}::uuid`,
    ];
    if (labels !== null) conditions.push(hasLabels(labels));
    if (before !== null) conditions.push(Prisma.sql`j.id < ${before}::uuid`);
    if (since !== null) conditions.push(Prisma.sql`j.id >= ${since}::uuid`);
    if (status !== null) conditions.push(hasStatus(status));
    if (Object.keys(metadata).length > 0) conditions.push(hasLabels(metadata));
    const foundAtOnce = Prisma.raw(String(FOUND_AT_ONCE.find((rows) => rows > limit) ?? limit + 1));
    return Prisma.sql`
      SELECT ${jobColumns(sourceShown(labels))}, ${outputsColumn}, NULL::json AS logs, j.found FROM (
        SELECT p.*, (count(*) OVER ())::int AS found, sum(p.output_count) OVER (ORDER BY p.id DESC) - p.output_count AS before
        FROM (
          SELECT j.*, (SELECT count(*) FROM job_outputs o WHERE o.job_id = j.id) AS output_count FROM jobs j
          WHERE ${Prisma.join(conditions, ' AND ')} ORDER BY j.id DESC LIMIT ${foundAtOnce}
        ) p
      ) j WHERE j.before < ${OUTPUTS_OF_A_PAGE} ORDER BY j.id DESC LIMIT ${limit}`;
  }

  /** Size of the graph in bytes. */
  async workflowBytes(statements: Statements, scope: JobScope, id: string): Promise<number | null> {
    const [row] = await statements.rows<{ bytes: number }>(Prisma.sql`
      SELECT octet_length(g.workflow) AS bytes FROM jobs j JOIN job_graphs g ON g.job_id = j.id
      WHERE j.id = ${id}::uuid AND ${isInScope(scope)}`);
    return row?.bytes ?? null;
  }

  /** The graph as submitted, to the byte. */
  async workflow(statements: Statements, scope: JobScope, id: string): Promise<string | null> {
    const [row] = await statements.rows<{ workflow: string }>(Prisma.sql`
      SELECT g.workflow FROM jobs j JOIN job_graphs g ON g.job_id = j.id
      WHERE j.id = ${id}::uuid AND ${isInScope(scope)}`);
    return row?.workflow ?? null;
  }

  /** Times of the nodes of the latest attempt that reported any. */
  async nodeTimings(statements: Statements, scope: JobScope, id: string): Promise<NodeTiming[] | null> {
    const [row] = await statements.rows<{ nodes: NodeTiming[] | null }>(Prisma.sql`
      SELECT (SELECT t.nodes FROM job_attempts t WHERE t.job_id = j.id AND t.nodes IS NOT NULL
              ORDER BY t.attempt DESC LIMIT 1) AS nodes
      FROM jobs j WHERE j.id = ${id}::uuid AND ${isInScope(scope)}`);
    return row === undefined ? null : (row.nodes ?? []);
  }

  /**
   * How many jobs of its account are before each waiting job of a page, in one statement: the length of the account's queue less what is behind them.
   * Pages show the newest first, so that is a walk from the queue's end to the oldest of the page.
   */
  async countAheadOfEach(
    statements: Statements,
    accountId: string,
    jobs: readonly { id: string; poolId: string }[],
  ): Promise<Map<string, number>> {
    const rows = await statements.rows<{ id: string; ahead: number }>(this.aheadOfEachSql(accountId, jobs));
    return new Map(rows.map(({ id, ahead }) => [id, ahead]));
  }

  /**
   * The statement of `countAheadOfEach`: two ranges of one index. The planner estimates a third of the account's jobs for a
   * range that is open at an end, and reads another index or plans the statement each time; for a closed one it estimates few.
   */
  aheadOfEachSql(accountId: string, jobs: readonly { id: string; poolId: string }[]): Prisma.Sql {
    const ids = jobs.map((job) => job.id);
    const pools = [...new Set(jobs.map((job) => job.poolId))];
    const oldest = ids.reduce((one, other) => (one < other ? one : other), ids[0] ?? '');
    const waiting = (condition: Prisma.Sql): Prisma.Sql => Prisma.sql`
      SELECT w.pool_id, w.priority, w.id FROM jobs w
      WHERE w.pool_id = ANY(${pools}) AND w.account_id = ${accountId}::uuid AND w.delivery = 'waiting' AND ${condition}`;
    return Prisma.sql`
      WITH highest AS MATERIALIZED (
        SELECT max(j.priority) AS priority FROM jobs j WHERE j.id = ANY(${ids}::uuid[])
      ), behind AS (
        ${waiting(Prisma.sql`w.priority >= ${LOWEST_PRIORITY} AND w.priority < (SELECT priority FROM highest)`)}
        UNION ALL
        ${waiting(Prisma.sql`w.priority = (SELECT priority FROM highest) AND w.id >= ${oldest}::uuid AND w.id <= ${HIGHEST_ID}::uuid`)}
      ), place AS (
        SELECT b.id, b.pool_id, row_number() OVER (PARTITION BY b.pool_id ORDER BY b.priority, b.id DESC) AS from_end
        FROM behind b
      )
      SELECT p.id, (q.waiting - p.from_end)::int AS ahead
      FROM place p JOIN account_queues q ON q.pool_id = p.pool_id AND q.account_id = ${accountId}::uuid
      WHERE p.id = ANY(${ids}::uuid[])`;
  }
}

/**
 * Rows `asked`, numbered from 1 in the order of `asks`. Their arrays stand in subqueries: the planner would see how many they are, find a plan for so few
 * cheaper than one for any number, and plan the statement again for each poll.
 */
function rowsOf(asks: readonly AskedJob[]): Prisma.Sql {
  return Prisma.sql`unnest(
    (SELECT ${asks.map(({ id }) => id)}::uuid[]), (SELECT ${asks.map(({ scope }) => scope.accountId)}::uuid[]),
    (SELECT ${asks.map(({ scope }) => scope.surface)}::text[]), (SELECT ${asks.map(({ scope }) => scope.deploymentId)}::uuid[]),
    (SELECT ${asks.map(({ scope: { labels } }) => labels && JSON.stringify(labels))}::text[]),
    (SELECT ${asks.map(({ withLogs }) => withLogs)}::boolean[])
  ) WITH ORDINALITY AS asked (id, account_id, surface, deployment_id, labels, with_logs, at)`;
}

/** They keep the number that `rowsOf` gave them: a copy without it would cost several times what the row does. */
function inOrder<Row extends { at: number }>(asks: readonly AskedJob[], rows: readonly Row[]): (Row | null)[] {
  const found = new Map(rows.map((row) => [row.at, row]));
  return asks.map((_, index) => found.get(index + 1) ?? null);
}

/** The second half follows from the first, but the planner does not know it: it is the predicate of the index to use. */
function hasStatus(status: JobStatus): Prisma.Sql {
  const indexed = isTerminal(status) ? Prisma.sql`j.delivery = 'done'` : Prisma.sql`j.delivery <> 'done'`;
  return Prisma.sql`j.status = ${status} AND ${indexed}`;
}

/** The row itself becomes the record: it has no other reader. */
function recordOf(row: JobRow): JobRecord {
  const { chargedMicros, error, logs } = row;
  return Object.assign(row, {
    error: error && boundedFailure(error),
    chargedMicros: chargedMicros === null ? null : Number(chargedMicros),
    logs: logs && { ...logs, capturedAt: new Date(logs.capturedAt) },
  });
}
