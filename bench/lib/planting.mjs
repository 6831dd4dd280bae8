import pg from 'pg';
import { METADATA, NODES, POOL, plantPool } from './graph.mjs';

/** How far back finished jobs reach; within their retention. */
const HISTORY = `interval '6 days'`;
const GRANT_MICROS = '1000000000000000';
const HOLD_MICROS = 60_000;
/** Of the planted ones. What is submitted later brings the twenty nodes. */
const GRAPH = JSON.stringify({ 1: { class_type: 'EmptyImage', inputs: {}, _meta: { title: 'x'.repeat(100) } } });

/**
 * Fill an empty, migrated database with what a service of that age has: accounts with credits, jobs that have succeeded with
 * an output each over the last days, and jobs that wait; each with its history, ledger, usage and keys. Every rule of the
 * schema holds of it, and of the auditors; foreign keys are only not looked up one by one meanwhile.
 *
 * @param {string} url
 * @param {{ accounts: number, finished: number, queued: number }} size
 */
export async function plant(url, size) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`SET session_replication_role = replica; SET synchronous_commit = off; SET work_mem = '256MB';
       SET maintenance_work_mem = '512MB'`);
    await plantPool(client);
    for (const sql of drafts(size)) await client.query(sql);
    const { rows: indexes } = await client.query(INDEXES);
    for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);
    for (const sql of Object.values(PLANTINGS)) await client.query(sql);
    for (const { definition } of indexes) await client.query(definition);
    // What autovacuum comes to by itself.
    await client.query('VACUUM (ANALYZE)');
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
}

/**
 * The accounts, and who has which job: what everything else is made from.
 *
 * @param {{ accounts: number, finished: number, queued: number }} size
 */
const drafts = ({ accounts, finished, queued }) => [
  `CREATE TEMPORARY TABLE planted_accounts AS
     SELECT n, uuidv7() AS id, uuidv7() AS grant_id FROM generate_series(0, ${accounts - 1}) AS n`,
  `CREATE TEMPORARY TABLE planted AS
     SELECT n, account_id, created_at, over, gen_random_uuid() AS asset_id, gen_random_uuid() AS end_id,
       ${idAt('created_at', '8')} AS id, ${idAt('created_at', '9')} AS hold_id
     FROM (
       SELECT job.n, a.id AS account_id, job.n <= ${finished} AS over,
         date_trunc('milliseconds', CASE WHEN job.n <= ${finished}
           THEN now() - ${HISTORY} + (${HISTORY} - interval '2 hours') * job.n / ${finished}
           ELSE now() - interval '1 hour' + interval '50 minutes' * (job.n - ${finished}) / ${queued} END) AS created_at
       FROM generate_series(1, ${finished + queued}) AS job (n) JOIN planted_accounts a ON a.n = job.n % ${accounts}
     ) AS draft`,
  'ANALYZE planted',
];

/**
 * An id as records have it (RFC 9562, version 7), of a moment and a number.
 *
 * @param {string} at
 * @param {string} variant a hexadecimal digit, 8 to b
 */
function idAt(at, variant) {
  const time = `lpad(to_hex((extract(epoch FROM ${at}) * 1000)::bigint), 12, '0')`;
  return `(${time} || '7' || lpad(to_hex(n & 4095), 3, '0') || '${variant}' || lpad(to_hex(n), 15, '0'))::uuid`;
}

/** The indexes that no constraint needs: to build them at the end takes a third of the time. */
const INDEXES = `
  SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
  WHERE indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`;

const PLANTINGS = {
  accounts: `INSERT INTO accounts (id, name) SELECT id, 'bench' FROM planted_accounts`,
  queues: `
    INSERT INTO account_queues (pool_id, account_id, waiting, running_limit)
    SELECT '${POOL}', account_id, count(*) FILTER (WHERE NOT over), 1000000 FROM planted GROUP BY account_id`,
  turns: `
    INSERT INTO account_turns (pool_id, eligible, pass, account_id)
    SELECT pool_id, eligible, pass, account_id FROM account_queues WHERE busy`,
  balances: `
    INSERT INTO balances (account_id, available_micros, held_micros, consumed_micros)
    SELECT account_id, ${GRANT_MICROS} - ${HOLD_MICROS} * count(*), ${HOLD_MICROS} * count(*) FILTER (WHERE NOT over),
      ${HOLD_MICROS} * count(*) FILTER (WHERE over)
    FROM planted GROUP BY account_id`,
  grants: `
    INSERT INTO ledger_transactions (id, account_id, kind, cause, actor)
    SELECT grant_id, id, 'grant', 'grant:' || grant_id, 'admin' FROM planted_accounts`,
  granted: `
    INSERT INTO ledger_entries (transaction_id, line, from_book, to_book, amount_micros)
    SELECT grant_id, 1, 'promotions', 'available', ${GRANT_MICROS} FROM planted_accounts`,
  lots: `
    INSERT INTO credit_lots (transaction_id, account_id, remaining_micros)
    SELECT grant_id, id, ${GRANT_MICROS} FROM planted_accounts`,
  jobs: `
    INSERT INTO jobs (id, account_id, pool_id, surface, status, delivery, attempt, max_attempts, seq, worker_id,
      dispatched_at, created_at, started_at, completed_at, deadline_at, expires_at, updated_at, price_micros_per_second,
      held_micros, charged_micros, billable_ms, engine_ms, metadata)
    SELECT id, account_id, '${POOL}', 'cloud', CASE WHEN over THEN 'succeeded' ELSE 'queued' END,
      CASE WHEN over THEN 'done' ELSE 'waiting' END, over::int, 3, CASE WHEN over THEN 3 ELSE 1 END,
      CASE WHEN over THEN account_id END, CASE WHEN over THEN created_at END, created_at, CASE WHEN over THEN created_at END,
      CASE WHEN over THEN created_at + interval '1 minute' END, created_at + interval '1 day',
      created_at + interval '7 days', created_at, 1000, ${HOLD_MICROS}, CASE WHEN over THEN ${HOLD_MICROS} END,
      CASE WHEN over THEN 60000 ELSE 0 END, CASE WHEN over THEN 60000 ELSE 0 END, '${JSON.stringify(METADATA)}'
    FROM planted ORDER BY n`,
  graphs: `
    INSERT INTO job_graphs (job_id, workflow, node_count) SELECT id, '${GRAPH}', ${NODES} FROM planted ORDER BY n`,
  history: `
    INSERT INTO job_transitions (job_id, seq, from_status, to_status, attempt, cause, worker_id, at)
    SELECT p.id, t.seq, t.source, t.target, least(t.seq - 1, 1), t.cause, CASE WHEN t.seq > 1 THEN p.account_id END,
      p.created_at
    FROM planted p JOIN (VALUES (1, NULL, 'queued', 'submitted'), (2, 'queued', 'running', 'claimed'),
      (3, 'running', 'succeeded', 'attempt succeeded')) AS t (seq, source, target, cause) ON t.seq = 1 OR p.over
    ORDER BY p.n, t.seq`,
  attempts: `
    INSERT INTO job_attempts (job_id, attempt, worker_id, claimed_at, ended_at, outcome, engine_ms)
    SELECT id, 1, account_id, created_at, created_at + interval '1 minute', 'succeeded', 60000 FROM planted WHERE over
    ORDER BY n`,
  blobs: `
    INSERT INTO blobs (account_id, hash, size_bytes, orphaned_at)
    SELECT id, 'blake3:' || repeat('0', 64), 1024, NULL FROM planted_accounts`,
  assets: `
    INSERT INTO assets (id, account_id, hash, size_bytes, content_type, job_id, created_at, expires_at)
    SELECT asset_id, account_id, 'blake3:' || repeat('0', 64), 1024, 'image/png', id, created_at,
      created_at + interval '7 days'
    FROM planted WHERE over ORDER BY n`,
  outputs: `
    INSERT INTO job_outputs (job_id, node_id, node_index, attempt, ordinal, name, type, asset_id)
    SELECT id, '20', 0, 1, 0, 'bench_00001_.png', 'image', asset_id FROM planted WHERE over ORDER BY n`,
  transactions: `
    INSERT INTO ledger_transactions (id, account_id, kind, job_id, cause, actor, at)
    SELECT hold_id, account_id, 'hold', id, 'job:' || id || ':hold', 'submission', created_at FROM planted
    UNION ALL
    SELECT end_id, account_id, 'settle', id, 'job:' || id || ':end', 'lifecycle', created_at + interval '1 minute'
    FROM planted WHERE over`,
  entries: `
    INSERT INTO ledger_entries (transaction_id, line, from_book, to_book, amount_micros)
    SELECT hold_id, 1, 'available', 'held', ${HOLD_MICROS} FROM planted
    UNION ALL SELECT end_id, 1, 'held', 'revenue', ${HOLD_MICROS} FROM planted WHERE over`,
  usage: `
    INSERT INTO usage_records (job_id, account_id, status, billable_ms, charged_micros, labels, finished_at)
    SELECT id, account_id, 'succeeded', 60000, ${HOLD_MICROS}, '${JSON.stringify(METADATA)}',
      created_at + interval '1 minute'
    FROM planted WHERE over ORDER BY n`,
  keys: `
    INSERT INTO idempotency_keys (account_id, operation, key, subject_id, created_at, expires_at)
    SELECT account_id, 'postJobs', gen_random_uuid()::text, id, created_at, created_at + interval '1 day'
    FROM planted WHERE created_at > now() - interval '1 day'`,
};
