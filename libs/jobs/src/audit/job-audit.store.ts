import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { isCountedBy } from '../labels';
import { TRANSITIONS } from '../state';

/** One thing that is not as it must be: what it was found on, and what is there. */
export interface AuditRow {
  subject: string;
  detail: string;
}

/** A check by name, and the query that finds what breaks it. Every row is a breach; a sound system has none. */
interface Check {
  name: string;
  sql: Prisma.Sql;
}

const moves = Prisma.join(
  TRANSITIONS.map(({ from, to }) => Prisma.sql`(${from}::text, ${to}::text)`),
  ', ',
);

/** The invariants of jobs, queues and outputs, as the queries that find what breaks them. */
const CHECKS: readonly Check[] = [
  {
    name: 'history-of-the-table',
    sql: Prisma.sql`
      SELECT t.job_id::text AS subject, format('moved from %s to %s', t.from_status, t.to_status) AS detail
      FROM job_transitions t
      WHERE NOT EXISTS (SELECT 1 FROM (VALUES ${moves}) AS m (src, dst)
        WHERE m.src IS NOT DISTINCT FROM t.from_status AND m.dst = t.to_status)`,
  },
  {
    name: 'label-use-is-what-jobs-hold',
    sql: Prisma.sql`
      SELECT format('%s %s=%s', u.account_id, u.label, u.value) AS subject,
             format('counts %s jobs that hold %s, there are %s that hold %s', u.live, u.held_micros, j.live, j.held) AS detail
      FROM label_use u CROSS JOIN LATERAL (
        SELECT count(*) AS live, coalesce(sum(j.held_micros), 0) AS held FROM jobs j
        WHERE j.account_id = u.account_id AND j.delivery <> 'done' AND ${isCountedBy(Prisma.sql`u.label`, Prisma.sql`u.value`)}) j
      WHERE u.live <> j.live OR u.held_micros <> j.held`,
  },
  {
    // Of what was submitted since a cap was set: jobs from before may hold more than it leaves. A cap that lets jobs finish may be passed.
    name: 'no-cap-exceeded',
    sql: Prisma.sql`
      SELECT format('%s %s=%s', s.account_id, s.label, s.value) AS subject,
             format('of %s a %s, %s were charged and held', s.cap, s.span, s.used) AS detail
      FROM (
        SELECT r.account_id, r.label, l.value, c.span, c.cap,
          sum(CASE WHEN j.delivery <> 'done' THEN j.held_micros WHEN j.completed_at >= c.since THEN j.charged_micros ELSE 0 END) AS used
        FROM label_rules r
        CROSS JOIN LATERAL (VALUES ('day', r.daily_micros, r.daily_at_cap, date_trunc('day', now(), 'UTC')),
          ('month', r.monthly_micros, r.monthly_at_cap, date_trunc('month', now(), 'UTC'))) AS c (span, cap, at_cap, since)
        JOIN jobs j ON j.account_id = r.account_id AND j.created_at > r.updated_at + interval '5 seconds'
          AND (j.delivery <> 'done' OR j.completed_at >= c.since)
        CROSS JOIN LATERAL (SELECT limited_value(n.name, j.metadata, j.api_key_id) AS value FROM unnest(j.limited_labels) AS n (name)
          WHERE limited_label(n.name) = r.label) l
        WHERE (l.value = r.value OR (r.value IS NULL AND NOT EXISTS (
            SELECT FROM label_rules o WHERE o.account_id = r.account_id AND o.label = r.label AND o.value = l.value)))
          AND c.cap IS NOT NULL AND c.at_cap IS DISTINCT FROM 'finish'
        GROUP BY r.account_id, r.label, 3, c.span, c.cap) s
      WHERE s.used > s.cap`,
  },
  {
    name: 'history-unbroken',
    sql: Prisma.sql`
      SELECT h.job_id::text AS subject,
             format('transition %s starts from %s and follows %s %s', h.seq, h.from_status, h.before_seq, h.before) AS detail
      FROM (SELECT job_id, seq, from_status, lag(to_status) OVER w AS before, lag(seq) OVER w AS before_seq
            FROM job_transitions WINDOW w AS (PARTITION BY job_id ORDER BY seq)) h
      WHERE h.before IS DISTINCT FROM h.from_status OR h.seq <> coalesce(h.before_seq, 0) + 1`,
  },
  {
    name: 'status-is-the-last-of-the-history',
    sql: Prisma.sql`
      SELECT j.id::text AS subject, format('is %s (%s), its history ends %s (%s)', j.status, j.seq, t.to_status, t.seq) AS detail
      FROM jobs j LEFT JOIN LATERAL (
        SELECT seq, to_status FROM job_transitions WHERE job_id = j.id ORDER BY seq DESC LIMIT 1) t ON true
      WHERE t.to_status IS DISTINCT FROM j.status OR t.seq IS DISTINCT FROM j.seq`,
  },
  {
    name: 'one-end-per-job',
    sql: Prisma.sql`
      SELECT j.id::text AS subject, format('is %s and has %s ends', j.status, ends.count) AS detail
      FROM jobs j CROSS JOIN LATERAL (
        SELECT count(*) FROM job_transitions t
        WHERE t.job_id = j.id AND t.to_status IN ('succeeded', 'canceled', 'failed', 'expired')) ends
      WHERE ends.count <> CASE WHEN j.delivery = 'done' THEN 1 ELSE 0 END`,
  },
  {
    name: 'attempts-without-gaps',
    sql: Prisma.sql`
      SELECT j.id::text AS subject, format('is at attempt %s and has attempts %s', j.attempt, a.numbers) AS detail
      FROM jobs j CROSS JOIN LATERAL (
        SELECT coalesce(array_agg(attempt::int ORDER BY attempt), '{}') AS numbers FROM job_attempts WHERE job_id = j.id) a
      WHERE a.numbers <> ARRAY(SELECT generate_series(1, j.attempt::int))`,
  },
  {
    // An attempt that is not the job's fault, and each retry, raises what it may have.
    name: 'no-more-attempts-than-allowed',
    sql: Prisma.sql`
      SELECT j.id::text AS subject, format('is at attempt %s of %s', j.attempt, j.max_attempts) AS detail
      FROM jobs j WHERE j.attempt > j.max_attempts`,
  },
  {
    name: 'one-live-lease-per-job',
    sql: Prisma.sql`
      SELECT j.id::text AS subject, format('is %s and has open attempts %s', j.delivery, a.numbers) AS detail
      FROM jobs j CROSS JOIN LATERAL (
        SELECT coalesce(array_agg(attempt::int ORDER BY attempt), '{}') AS numbers
        FROM job_attempts WHERE job_id = j.id AND ended_at IS NULL) a
      WHERE a.numbers <> CASE WHEN j.delivery = 'leased' THEN ARRAY[j.attempt::int] ELSE '{}' END`,
  },
  {
    name: 'canceled-before-start-never-ran',
    sql: Prisma.sql`
      SELECT j.id::text AS subject, 'was canceled while queued and has an attempt or an output' AS detail
      FROM jobs j JOIN job_transitions t ON t.job_id = j.id AND t.from_status = 'queued' AND t.to_status = 'canceled'
      WHERE EXISTS (SELECT 1 FROM job_attempts a WHERE a.job_id = j.id)
         OR EXISTS (SELECT 1 FROM job_outputs o WHERE o.job_id = j.id)`,
  },
  {
    name: 'job-has-its-graph',
    sql: Prisma.sql`
      SELECT j.id::text AS subject, 'has no graph' AS detail
      FROM jobs j WHERE NOT EXISTS (SELECT 1 FROM job_graphs g WHERE g.job_id = j.id)`,
  },
  {
    name: 'key-names-one-job',
    sql: Prisma.sql`
      SELECT k.subject_id::text AS subject, format('key %s names a job that is not there', k.key) AS detail
      FROM idempotency_keys k WHERE k.operation = 'postJobs' AND k.expires_at > now()
        AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = k.subject_id AND j.account_id = k.account_id)
        AND k.created_at > now() - interval '1 hour'`,
  },
  {
    name: 'counters-are-counts',
    sql: Prisma.sql`
      SELECT q.pool_id || '/' || q.account_id AS subject,
             format('says %s waiting and %s in flight; there are %s and %s', q.waiting, q.in_flight, c.waiting, c.in_flight)
               AS detail
      FROM account_queues q CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE delivery = 'waiting') AS waiting,
               count(*) FILTER (WHERE delivery IN ('dispatched', 'leased', 'paused')) AS in_flight
        FROM jobs j WHERE j.pool_id = q.pool_id AND j.account_id = q.account_id AND j.delivery <> 'done') c
      WHERE (q.waiting, q.in_flight) IS DISTINCT FROM (c.waiting::int, c.in_flight::int)`,
  },
  {
    name: 'turns-of-the-accounts-that-have-jobs-waiting',
    sql: Prisma.sql`
      SELECT coalesce(q.pool_id, t.pool_id) || '/' || coalesce(q.account_id, t.account_id) AS subject,
             CASE WHEN t.pool_id IS NULL THEN 'has jobs waiting and no turn' ELSE 'has a turn that is not of its queue' END AS detail
      FROM (SELECT * FROM account_queues WHERE busy) q FULL JOIN account_turns t
        ON (t.pool_id, t.account_id, t.pass, t.eligible) = (q.pool_id, q.account_id, q.pass, q.eligible)
      WHERE q.pool_id IS NULL OR t.pool_id IS NULL`,
  },
  {
    name: 'no-job-before-the-head',
    sql: Prisma.sql`
      SELECT j.id::text AS subject, format('waits before the head of its queue, %s', q.head_id) AS detail
      FROM account_queues q JOIN jobs j ON j.pool_id = q.pool_id AND j.account_id = q.account_id AND j.delivery = 'waiting'
      WHERE j.priority > 0 AND q.head_id IS NOT NULL OR j.priority = 0 AND j.id < q.head_id`,
  },
  {
    name: 'output-has-its-blob',
    sql: Prisma.sql`
      SELECT o.job_id::text AS subject,
             format('output %s: %s', o.name, CASE
               WHEN b.hash IS NULL THEN 'its blob is not there'
               WHEN b.orphaned_at IS NOT NULL THEN 'its blob counts as orphaned'
               WHEN b.size_bytes <> a.size_bytes THEN 'its blob has another size'
               ELSE 'it belongs to another account' END) AS detail
      FROM job_outputs o JOIN jobs j ON j.id = o.job_id JOIN assets a ON a.id = o.asset_id
      LEFT JOIN blobs b ON b.account_id = a.account_id AND b.hash = a.hash
      WHERE b.hash IS NULL OR b.orphaned_at IS NOT NULL OR b.size_bytes <> a.size_bytes OR a.account_id <> j.account_id`,
  },
  {
    name: 'input-is-of-the-account',
    sql: Prisma.sql`
      SELECT i.job_id::text AS subject, format('refers to asset %s of another account', i.asset_id) AS detail
      FROM job_inputs i JOIN jobs j ON j.id = i.job_id JOIN assets a ON a.id = i.asset_id
      WHERE a.account_id <> j.account_id`,
  },
  {
    name: 'outputs-of-one-attempt',
    sql: Prisma.sql`
      SELECT j.id::text AS subject, format('succeeded with attempt %s and shows outputs of attempt %s', j.attempt, o.attempt)
        AS detail
      FROM jobs j JOIN job_outputs o ON o.job_id = j.id WHERE j.status = 'succeeded' AND o.attempt <> j.attempt`,
  },
  {
    name: 'charge-is-what-the-ledger-has',
    sql: Prisma.sql`
      SELECT j.id::text AS subject,
             format('charged %s of %s held; the ledger has %s charged, %s held, %s ends', j.charged_micros, j.held_micros,
               l.charged, l.held, l.ends) AS detail
      FROM jobs j CROSS JOIN LATERAL (
        SELECT coalesce(sum(e.amount_micros) FILTER (WHERE e.to_book = 'revenue'), 0) AS charged,
               coalesce(sum(e.amount_micros) FILTER (WHERE t.kind IN ('hold', 'extend_hold')), 0) AS held,
               count(DISTINCT t.id) FILTER (WHERE t.kind IN ('settle', 'release')) AS ends
        FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
        WHERE t.job_id = j.id AND t.kind <> 'correction') l
      WHERE j.held_micros > 0 AND (l.held <> j.held_micros OR l.charged <> coalesce(j.charged_micros, 0)
        OR l.ends <> CASE WHEN j.delivery = 'done' THEN 1 ELSE 0 END)`,
  },
  {
    name: 'reused-jobs-are-free-and-whole',
    sql: Prisma.sql`
      SELECT j.id::text AS subject,
             format('was answered with outputs of %s and has %s outputs, %s attempts, %s transactions, and was charged %s',
               j.reused_from, r.outputs, r.attempts, r.transactions, j.charged_micros) AS detail
      FROM jobs j CROSS JOIN LATERAL (
        SELECT (SELECT count(*) FROM job_outputs o WHERE o.job_id = j.id) AS outputs,
               (SELECT count(*) FROM job_attempts a WHERE a.job_id = j.id) AS attempts,
               (SELECT count(*) FROM ledger_transactions t WHERE t.job_id = j.id) AS transactions) r
      WHERE j.reused_from IS NOT NULL
        AND (j.charged_micros <> 0 OR r.outputs = 0 OR r.attempts > 0 OR r.transactions > 0)`,
  },
  {
    name: 'platform-faults-are-free',
    sql: Prisma.sql`
      SELECT j.id::text AS subject, format('failed with %s and was charged %s', j.error ->> 'code', j.charged_micros) AS detail
      FROM jobs j
      WHERE j.status = 'failed' AND j.charged_micros > 0
        AND j.billable_ms > (SELECT coalesce(sum(a.billed_ms), 0) FROM job_attempts a WHERE a.job_id = j.id)
        AND j.error ->> 'code' IN ('worker_lost', 'output_storage_error', 'input_unavailable', 'credential_unavailable')`,
  },
  {
    name: 'retries-keep-their-policy',
    sql: Prisma.sql`
      SELECT j.id::text AS subject,
             format('was tried again %s times of %s, for %s; its attempts say %s, for %s', j.retries, j.retry_max, j.retry_codes,
               a.retried, a.codes) AS detail
      FROM jobs j CROSS JOIN LATERAL (
        SELECT count(*) AS retried, coalesce(array_agg(error ->> 'code'), '{}') AS codes
        FROM job_attempts WHERE job_id = j.id AND billed_ms IS NOT NULL) a
      WHERE (j.retry_max > 0 OR j.retries > 0)
        AND (a.retried <> j.retries OR j.retries > j.retry_max OR NOT a.codes <@ j.retry_codes)`,
  },
  {
    name: 'charge-is-what-the-table-bills',
    sql: Prisma.sql`
      SELECT j.id::text AS subject,
             format('was charged %s for %s ms, %s of them for attempts before, of %s held', j.charged_micros, j.billable_ms,
               a.billed_ms, j.held_micros) AS detail
      FROM jobs j CROSS JOIN LATERAL (
        SELECT coalesce(sum(billed_ms), 0) AS billed_ms FROM job_attempts WHERE job_id = j.id) a
      WHERE j.billable_ms < a.billed_ms OR (j.delivery = 'done' AND j.charged_micros <>
        least(j.held_micros, (j.billable_ms * j.price_micros_per_second + 999) / 1000))`,
  },
];

/** Names of the checks, in the order in which they are made. */
export const JOB_CHECKS: readonly string[] = CHECKS.map(({ name }) => name);

/** What breaks a check, `limit` rows at most. Each check is one statement, so it sees one moment; none takes a lock. */
export async function findBreaches(statements: Statements, check: string, limit: number): Promise<AuditRow[]> {
  const found = CHECKS.find(({ name }) => name === check);
  if (found === undefined) throw new Error(`there is no check ${check}`);
  return statements.rows<AuditRow>(Prisma.sql`SELECT * FROM (${found.sql}) breaches ORDER BY subject LIMIT ${limit}`);
}

/** Which of these jobs have ended, or are not there any more. */
export async function findEnded(statements: Statements, jobIds: string[]): Promise<Set<string>> {
  const rows = await statements.rows<{ id: string }>(Prisma.sql`
    SELECT id::text FROM unnest(${jobIds}::uuid[]) AS given (id)
    WHERE NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = given.id AND j.delivery <> 'done')`);
  return new Set(rows.map((row) => row.id));
}
