import { randomUUID } from 'node:crypto';
import { built } from './built.mjs';
import { GRAPH, METADATA, NODES, POOL } from './graph.mjs';

/** @typedef {import('../../libs/database/src/database').Statements} Statements */

const { newId } = built('libs/contracts/src/index');
const { jobSettings } = built('libs/jobs/src/job.settings');
const { SubmissionStore } = built('libs/jobs/src/submission/submission.store');
const { readSettings } = built('libs/platform/src/index');

const store = new SubmissionStore(readSettings(jobSettings, {}));

/**
 * The statement that a submission of the twenty nodes is, alone.
 *
 * @param {Statements} statements
 * @param {string} accountId
 * @param {string} [poolId]
 */
export async function recordJob(statements, accountId, poolId = POOL) {
  await store.record(statements, draftOf(accountId, poolId));
}

/**
 * Statements on bare connections, each committed by itself. A bench reads nothing of the rows but whether there are any.
 *
 * @param {import('pg').Pool} pool
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
    poolId,
    workflow: GRAPH,
    nodeCount: NODES,
    workKey: 0n,
    reuseKey: null,
    inputAssetIds: [],
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
