import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { GRAPH, METADATA, NODES, POOL } from './graph.mjs';

/** @typedef {Pick<import('../../libs/database/src/database').Statements, 'query'>} Queries */

/** The built libs: a load generator runs without the compiler's path aliases. */
export const built = createRequire(new URL('../../dist/libs/', import.meta.url));
const { newId } = built('./contracts/src/index.js');
const { jobSettings } = built('./jobs/src/job.settings.js');
const { SubmissionStore } = built('./jobs/src/submission/submission.store.js');
const { readSettings } = built('./platform/src/index.js');

const store = new SubmissionStore(readSettings(jobSettings, {}));

/**
 * The statement that a submission of the twenty nodes is, alone.
 *
 * @param {Queries} statements
 * @param {string} accountId
 * @param {string} [poolId]
 */
export async function recordJob(statements, accountId, poolId = POOL) {
  await store.record(statements, draftOf(accountId, poolId));
}

/**
 * Statements on bare connections: prepared once on each, and committed by themselves.
 *
 * @param {import('pg').Pool} pool
 * @returns {Queries}
 */
export function bareStatements(pool) {
  return {
    query: async ({ text, values }) => (await pool.query({ name: 'submission', text, values })).rows,
  };
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
    inputAssetIds: [],
    metadata: METADATA,
    idempotencyKey: randomUUID(),
    weight: 1,
    runningLimit: 100,
    queueLimit: 1_000_000,
    priceMicrosPerSecond: 1_000n,
    holdMicros: 60_000n,
    hasSecrets: false,
    models: [],
    traceparent: null,
  };
}
