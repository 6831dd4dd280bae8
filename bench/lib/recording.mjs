import { randomUUID } from 'node:crypto';
import { built } from './built.mjs';
import { GRAPH, METADATA, NODES, POOL } from './graph.mjs';

/** @typedef {import('../../libs/database/src/database').Statements} Statements */

const { newId } = built('libs/contracts/src/index');
const { jobSettings } = built('libs/jobs/src/job.settings');
const { BatchStore } = built('libs/jobs/src/batches/batch.store');
const { LOCK_WAIT_MS, groupsOf } = built('libs/jobs/src/batches/batch-groups');
const { GroupStore } = built('libs/jobs/src/submission/group.store');
const { SubmissionStore } = built('libs/jobs/src/submission/submission.store');
const { readSettings } = built('libs/platform/src/index');

const settings = readSettings(jobSettings, {});
const store = new SubmissionStore(settings);
const groups = new GroupStore(settings);
const batches = new BatchStore();

/**
 * The statement that a submission is, alone.
 *
 * @param {Statements} statements
 * @param {string} accountId
 * @param {{ poolId?: string, graph?: string, nodeCount?: number }} [of] the twenty nodes, in the pool of all, where it is not given
 */
export async function recordJob(statements, accountId, { poolId = POOL, graph = GRAPH, nodeCount = NODES } = {}) {
  await store.record(statements, { ...draftOf(accountId, poolId), workflow: graph, nodeCount });
}

/**
 * The least that makes the graph of a submission durable: one row in a table of this bench, in a transaction of its own.
 *
 * @param {Pick<import('pg').Pool, 'query'>} pool
 * @returns {Promise<() => Promise<unknown>>} what inserts one
 */
export async function bareInserts(pool) {
  await pool.query('CREATE TABLE IF NOT EXISTS bench_graphs (id uuid PRIMARY KEY, graph text NOT NULL)');
  const text = 'INSERT INTO bench_graphs (id, graph) VALUES ($1, $2)';
  return () => pool.query({ name: 'bare-insert', text, values: [newId(), GRAPH] });
}

/**
 * The rows of a batch, committed as the service commits them, on one connection.
 *
 * @param {import('pg').ClientBase} client
 * @param {string} accountId
 * @param {number} jobs
 * @returns {() => Promise<void>} what commits them
 */
export function recordBatch(client, accountId, jobs) {
  const id = newId();
  const drafts = Array.from({ length: jobs }, (_, index) => {
    const draft = { ...draftOf(accountId, POOL), id: null, idempotencyKey: null, batch: { id, index } };
    return { ...draft, index, graphBytes: Buffer.byteLength(GRAPH) };
  });
  const counts = { itemCount: jobs, jobCount: jobs, refused: [] };
  const scope = /** @type {const} */ ({ accountId, surface: 'cloud', deploymentId: null, labels: null });
  const batch = {
    ...scope,
    ...counts,
    id,
    idempotencyKey: null,
    requestHash: Buffer.alloc(32),
    retentionSeconds: 604_800,
  };
  const statements = bareStatements(client, 'group');
  return async () => {
    await client.query('BEGIN');
    await batches.create(bareStatements(client), batch);
    for (const group of groupsOf(drafts)) await groups.record(statements, group, LOCK_WAIT_MS);
    await client.query('COMMIT');
  };
}

/**
 * Statements on bare connections, each committed by itself. A bench reads nothing of the rows but whether there are any.
 *
 * @param {Pick<import('pg').Pool | import('pg').ClientBase, 'query'>} pool
 * @param {string} [name] under which a connection prepares its statement once; unprepared without it
 * @returns {Statements}
 */
export function bareStatements(pool, name) {
  const statements = {
    /** @param {{ text: string, values: unknown[] }} statement @returns {Promise<unknown[]>} */
    rows: async ({ text, values }) => {
      /** @type {import('pg').QueryResult<Record<string, unknown>>} */
      const { rows } = await pool.query({ name, text, values });
      return rows;
    },
    /** @param {{ text: string, values: unknown[] }} statement @returns {Promise<number>} */
    execute: async ({ text, values }) => (await pool.query({ name, text, values })).rowCount ?? 0,
  };
  return /** @type {Statements} */ (/** @type {unknown} */ (statements));
}

/**
 * @param {string} accountId
 * @param {string} poolId
 * @returns {import('../../libs/jobs/src/submission/submission').JobDraft}
 */
function draftOf(accountId, poolId) {
  return {
    id: newId(),
    accountId,
    surface: 'cloud',
    deploymentId: null,
    apiKeyId: null,
    subKeyId: null,
    poolId,
    workflow: GRAPH,
    nodeCount: NODES,
    workKey: 0n,
    reuseKey: null,
    inputAssetIds: [],
    libraryModels: [],
    metadata: METADATA,
    idempotencyKey: randomUUID(),
    weight: 1,
    runningLimit: 100,
    queueLimit: 1_000_000,
    storageBytes: 107_374_182_400,
    retentionSeconds: 604_800,
    priceMicrosPerSecond: 1_000n,
    holdMicros: 60_000n,
    spendLimitMicros: null,
    hasSecrets: false,
    models: [],
    traceparent: null,
    batch: null,
    retry: null,
  };
}
