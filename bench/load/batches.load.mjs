import pg from 'pg';
import { makeAccounts } from '../lib/accounts.mjs';
import { GRAPH, METADATA, plantPool } from '../lib/graph.mjs';
import { openClient } from '../lib/http.mjs';
import { processorMs } from '../lib/process-facts.mjs';
import { recordBatch } from '../lib/recording.mjs';

/** What an admission took: by the clock, and of the processors, in milliseconds. @typedef {{ ms: number, processorMs: number }} Admission */
/** How the jobs are given; `bare`: their rows are committed without the service. @typedef {'listed' | 'table' | 'bare'} Form */

/** @type {import('../lib/http.mjs').Send} */
let send;
/** @type {import('../lib/accounts.mjs').Account} */
let account;
/** @type {pg.Client} */
let client;
/** Of all that serves. @type {number[]} */
let pids = [];

/**
 * A pool in which nothing starts, so that only what is measured is running.
 *
 * @param {import('../lib/accounts.mjs').Stack & { processes: { pid: number }[] }} stack
 */
export async function prepare(stack) {
  pids = stack.processes.map(({ pid }) => pid);
  send = openClient(stack.publicUrl, 1);
  client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  await plantPool(client);
  const [made] = await makeAccounts(stack, 1);
  if (made === undefined) throw new Error('no account was made');
  account = made;
}

/**
 * Admit jobs as one batch. Bodies and drafts are made before the clock starts.
 *
 * @param {{ form: Form, jobs: number }} input
 * @returns {Promise<Admission>}
 */
export async function admit({ form, jobs }) {
  const act = form === 'bare' ? recordBatch(client, account.id, jobs) : submission(form, jobs);
  const before = processorMs(pids);
  const startedAt = performance.now();
  await act();
  const ms = performance.now() - startedAt;
  return { ms, processorMs: processorMs(pids) - before };
}

/**
 * @param {'listed' | 'table'} form
 * @param {number} jobs
 * @returns {() => Promise<void>}
 */
function submission(form, jobs) {
  const metadata = JSON.stringify(METADATA);
  const item = `{"workflow":${GRAPH},"metadata":${metadata}}`;
  const colors = JSON.stringify({ '1.color': Array.from({ length: jobs }, (_, color) => color) });
  const body =
    form === 'listed'
      ? `{"jobs":[${Array.from({ length: jobs }, () => item).join(',')}]}`
      : `{"workflow":${GRAPH},"table":${colors},"metadata":${metadata}}`;
  return async () => {
    const { status, text } = await send({ method: 'POST', path: '/api/v2/batches', key: account.key, body });
    if (status !== 201) throw new Error(`a batch was refused: ${status} ${text.slice(0, 500)}`);
  };
}
