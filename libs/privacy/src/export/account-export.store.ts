import { Prisma } from '@prisma/client';
import { actorsSeenByAccount } from '@millrace/accounts';
import type { Statements } from '@millrace/database';
import { deploymentPools } from '@millrace/deployments';

/** A record of an account as a line of a file, and its place: what the next page begins behind. */
export interface ExportLine {
  /** JSON, as PostgreSQL writes it: whole numbers keep all their digits. */
  line: string;
  place: string;
}

/** An output whose bytes are in the archive. */
export interface ExportedOutput {
  assetId: string;
  jobId: string;
  name: string;
  hash: string;
  sizeBytes: number;
  contentType: string;
  at: Date;
}

/** Bytes of a page of jobs, whose graphs and logs may be large; a job that alone has more is a page of its own. */
export const JOBS_PAGE_BYTES = 4_194_304;

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const NEVER = '-infinity';

/** What every page is read by: whose it is, behind which place, and how many records it has at most. */
interface PageOf {
  accountId: string;
  after: string | null;
  limit: number;
}

const idAfter = ({ after }: PageOf): Prisma.Sql => Prisma.sql`${after ?? FIRST_ID}::uuid`;
const timeAfter = ({ after }: PageOf): Prisma.Sql => {
  const [time = NEVER, id = FIRST_ID] = after?.split(' ') ?? [];
  return Prisma.sql`(${time}::timestamptz, ${id}::uuid)`;
};
const timePlace = (time: Prisma.Sql, id: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`concat_ws(' ', replace(${time}::text, ' ', 'T'), ${id}) AS place`;

/** The next jobs of an account, on all its surfaces, by the indexes of their lists. */
const jobIds = (page: PageOf): Prisma.Sql => Prisma.sql`
  SELECT id FROM (
    (SELECT j.id FROM jobs j WHERE j.account_id = ${page.accountId}::uuid AND j.deployment_id IS NULL AND j.id > ${idAfter(page)}
     ORDER BY j.id LIMIT ${page.limit})
    UNION ALL
    (SELECT j.id FROM (
       SELECT DISTINCT p.deployment_id FROM account_queues q JOIN ${deploymentPools} p ON p.pool_id = q.pool_id
       WHERE q.account_id = ${page.accountId}::uuid
     ) d CROSS JOIN LATERAL (
       SELECT o.id FROM jobs o WHERE o.deployment_id = d.deployment_id AND o.account_id = ${page.accountId}::uuid AND o.id > ${idAfter(page)}
       ORDER BY o.id LIMIT ${page.limit}
     ) j)
  ) next ORDER BY id LIMIT ${page.limit}`;

/** Of those as many as a page takes. Lengths of texts are read without the texts. */
const jobsOfPage = (page: PageOf): Prisma.Sql => Prisma.sql`
  SELECT id FROM (
    SELECT id, row_number() OVER (ORDER BY id) AS nth, sum(bytes) OVER (ORDER BY id) AS bytes_so_far FROM (
      SELECT j.id, coalesce(octet_length(g.workflow), 0) + coalesce(octet_length(l.text), 0)
        + octet_length(concat(j.metadata, j.error, j.progress))
        + (SELECT coalesce(sum(octet_length(concat(a.nodes, a.error))), 0) FROM job_attempts a WHERE a.job_id = j.id) AS bytes
      FROM (${jobIds(page)}) ids JOIN jobs j ON j.id = ids.id
      LEFT JOIN job_graphs g ON g.job_id = j.id LEFT JOIN job_logs l ON l.job_id = j.id
    ) lengths
  ) sums WHERE nth = 1 OR bytes_so_far <= ${JOBS_PAGE_BYTES}`;

const byId =
  (columns: Prisma.Sql, from: Prisma.Sql) =>
  (page: PageOf): Prisma.Sql => Prisma.sql`
  SELECT row_to_json(r)::text AS line, r.id::text AS place FROM (
    SELECT ${columns} FROM ${from} x WHERE x.account_id = ${page.accountId}::uuid AND x.id > ${idAfter(page)}
    ORDER BY x.id LIMIT ${page.limit}
  ) r ORDER BY r.id`;

/** A job with all that is kept of it. Its graph is the text that was submitted, so that no number loses a digit. */
const jobLines = (page: PageOf): Prisma.Sql => Prisma.sql`
  SELECT row_to_json(r)::text AS line, r.id::text AS place FROM (
    SELECT j.id, j.surface, j.deployment_id, j.api_key_id, j.batch_id, j.batch_index, j.status, j.created_at, j.started_at, j.completed_at,
      j.deadline_at, j.expires_at, j.metadata, j.error, j.progress, j.models, j.attempt, j.charged_micros, j.billable_ms, j.reused_from,
      j.cached_nodes, g.workflow::json AS workflow,
      (SELECT json_agg(json_build_object('attempt', a.attempt, 'claimed_at', a.claimed_at, 'ended_at', a.ended_at, 'outcome', a.outcome,
        'engine_ms', a.engine_ms, 'nodes', a.nodes, 'error', a.error) ORDER BY a.attempt) FROM job_attempts a WHERE a.job_id = j.id) AS attempts,
      (SELECT json_agg(json_build_object('seq', t.seq, 'status', t.to_status, 'cause', t.cause, 'at', t.at) ORDER BY t.seq)
        FROM job_transitions t WHERE t.job_id = j.id) AS history,
      (SELECT json_agg(json_build_object('node_id', o.node_id, 'name', o.name, 'type', o.type, 'asset_id', o.asset_id) ORDER BY o.attempt, o.ordinal)
        FROM job_outputs o WHERE o.job_id = j.id) AS outputs,
      (SELECT l.text FROM job_logs l WHERE l.job_id = j.id) AS log
    FROM (${jobsOfPage(page)}) ids JOIN jobs j ON j.id = ids.id LEFT JOIN job_graphs g ON g.job_id = j.id
  ) r ORDER BY r.id`;

/** Outputs and uploads each have an index in the order of time. */
const assetLines = (page: PageOf): Prisma.Sql => {
  const those = (condition: Prisma.Sql): Prisma.Sql => Prisma.sql`
    (SELECT a.id, a.hash, a.size_bytes, a.content_type, a.file_path, a.tags, a.job_id, a.labels, a.created_at, a.expires_at FROM assets a
     WHERE a.account_id = ${page.accountId}::uuid AND ${condition} AND (a.created_at, a.id) > ${timeAfter(page)}
     ORDER BY a.created_at, a.id LIMIT ${page.limit})`;
  return Prisma.sql`
    SELECT row_to_json(r)::text AS line, ${timePlace(Prisma.sql`r.created_at`, Prisma.sql`r.id`)} FROM (
      ${those(Prisma.sql`a.job_id IS NOT NULL`)} UNION ALL ${those(Prisma.sql`a.job_id IS NULL`)}
      ORDER BY created_at, id LIMIT ${page.limit}
    ) r ORDER BY r.created_at, r.id`;
};

const usageLines = (page: PageOf): Prisma.Sql => Prisma.sql`
  SELECT row_to_json(r)::text AS line, ${timePlace(Prisma.sql`r.finished_at`, Prisma.sql`r.job_id`)} FROM (
    SELECT u.job_id, u.api_key_id, u.deployment_id, u.status, u.billable_ms, u.charged_micros, u.labels, u.finished_at
    FROM usage_records u WHERE u.account_id = ${page.accountId}::uuid AND (u.finished_at, u.job_id) > ${timeAfter(page)}
    ORDER BY u.finished_at, u.job_id LIMIT ${page.limit}
  ) r ORDER BY r.finished_at, r.job_id`;

const ledgerLines = (page: PageOf): Prisma.Sql => Prisma.sql`
  SELECT row_to_json(r)::text AS line, ${timePlace(Prisma.sql`r.at`, Prisma.sql`r.id`)} FROM (
    SELECT t.id, t.kind, t.job_id, t.corrects, t.reason, t.expires_at, t.at,
      (SELECT json_agg(json_build_object('from', e.from_book, 'to', e.to_book, 'amount_micros', e.amount_micros) ORDER BY e.line)
        FROM ledger_entries e WHERE e.transaction_id = t.id) AS entries
    FROM ledger_transactions t WHERE t.account_id = ${page.accountId}::uuid AND (t.at, t.id) > ${timeAfter(page)}
    ORDER BY t.at, t.id LIMIT ${page.limit}
  ) r ORDER BY r.at, r.id`;

const accountLine = ({ accountId, after }: PageOf): Prisma.Sql => Prisma.sql`
  SELECT row_to_json(r)::text AS line, r.id::text AS place FROM (
    SELECT a.id, a.name, a.plan, a.status, a.created_at, a.submission_defaults,
      a.allowed_addresses, a.key_max_age_seconds, b.available_micros, b.held_micros, b.consumed_micros
    FROM accounts a LEFT JOIN balances b ON b.account_id = a.id WHERE a.id = ${accountId}::uuid AND a.id > ${after ?? FIRST_ID}::uuid
  ) r`;

/** The files of an archive, in their order, and what is read for each. Secrets, hashes of keys and other accounts' records are in none. */
const FILES = {
  account: accountLine,
  'api-keys': byId(
    Prisma.sql`x.id, x.name, x.last_four, x.scopes, x.labels, x.created_at, x.expires_at, x.revoked_at, x.last_used_at, x.parent_id, x.allowed_addresses`,
    Prisma.sql`api_keys`,
  ),
  members: byId(Prisma.sql`x.id, x.email, x.role, x.created_at, x.removed_at`, Prisma.sql`members`),
  invitations: byId(Prisma.sql`x.id, x.email, x.role, x.created_at, x.expires_at`, Prisma.sql`invitations`),
  jobs: jobLines,
  batches: byId(
    Prisma.sql`x.id, x.surface, x.deployment_id, x.idempotency_key, x.item_count, x.job_count, x.refused, x.labels, x.created_at, x.expires_at, x.completed_at`,
    Prisma.sql`batches`,
  ),
  assets: assetLines,
  models: byId(
    Prisma.sql`x.id, x.folder, x.name, x.state, x.format, x.kind, x.size_bytes, x.digest, x.licence, x.source_url, x.asset_id, x.created_at`,
    Prisma.sql`models`,
  ),
  deployments: byId(
    Prisma.sql`x.id, x.name, x.desired_state, x.min_workers, x.max_workers, x.engine_class, x.created_at, x.deleted_at`,
    Prisma.sql`deployments`,
  ),
  'label-rules': byId(
    Prisma.sql`x.id, x.label, x.value, x.max_jobs, x.daily_micros, x.monthly_micros, x.daily_at_cap, x.monthly_at_cap, x.retention_seconds, x.created_at`,
    Prisma.sql`label_rules`,
  ),
  'webhook-endpoints': byId(
    Prisma.sql`x.id, x.url, x.description, x.event_types, x.created_at, x.disabled_at, x.deleted_at`,
    Prisma.sql`webhook_endpoints`,
  ),
  'top-ups': byId(
    Prisma.sql`x.id, x.status, x.amount_micros, x.price_minor, x.currency, x.created_at, x.paid_at`,
    Prisma.sql`top_ups`,
  ),
  usage: usageLines,
  ledger: ledgerLines,
  audit: byId(
    Prisma.sql`x.id, x.at, ${actorsSeenByAccount(Prisma.sql`x.actor`)} AS actor, x.action, x.subject_type, x.subject_id, x.reason, x.details`,
    Prisma.sql`audit_log`,
  ),
  erasures: byId(
    Prisma.sql`x.id, x.subject, x.job_id, x.label, x.state, x.counts, ${actorsSeenByAccount(Prisma.sql`x.requested_by`)} AS requested_by, x.requested_at, x.done_at`,
    Prisma.sql`erasures`,
  ),
} as const satisfies Record<string, (page: PageOf) => Prisma.Sql>;

export type ExportName = keyof typeof FILES;
export const EXPORT_NAMES = Object.keys(FILES) as ExportName[];

/** The SQL of an account's archive: pages of each of its files, by index. Every method takes the account. */
export class AccountExportStore {
  /** The records behind a place; none are left where none are returned. */
  async page(statements: Statements, name: ExportName, page: PageOf): Promise<ExportLine[]> {
    return statements.rows(FILES[name](page));
  }

  /** Outputs of ended jobs, also those that their jobs no longer show, in the order of their jobs and their own. */
  async outputs(
    statements: Statements,
    page: Omit<PageOf, 'after'> & { jobIds: readonly string[] },
  ): Promise<ExportedOutput[]> {
    return statements.rows(Prisma.sql`
      SELECT a.id AS asset_id, a.job_id, coalesce(o.name, a.file_path, '') AS name, a.hash, a.size_bytes::float8, a.content_type,
        a.created_at AS at
      FROM assets a JOIN jobs j ON j.id = a.job_id LEFT JOIN job_outputs o ON o.asset_id = a.id
      WHERE a.job_id = ANY(${[...page.jobIds]}::uuid[]) AND j.account_id = ${page.accountId}::uuid AND j.delivery = 'done'
        AND (o.asset_id IS NOT NULL OR a.expires_at > now())
      ORDER BY a.job_id, coalesce(o.attempt, a.attempt, 0), o.ordinal, a.id`);
  }

  /** The ids of the next jobs. */
  async jobIds(statements: Statements, page: PageOf): Promise<string[]> {
    return (await statements.rows<{ id: string }>(jobIds(page))).map(({ id }) => id);
  }
}
