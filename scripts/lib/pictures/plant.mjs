import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onDatabase } from '../prisma/index.mjs';
import { ROOT } from '../system/index.mjs';
import { admin, call } from './call.mjs';
import { plantBatch } from './plant-batch.mjs';
import { plantEndpoint } from './plant-endpoint.mjs';
import { plantModels } from './plant-models.mjs';

/** @typedef {import('../stack/stack.mjs').RunFile} RunFile */
/** @typedef {{ account: string, empty: string, job: string, failed: string, batch: string, endpoint: string }} Planted
 * ids of two accounts, two jobs, a batch and a webhook endpoint */

const POLL_MS = 300;
const ROWS = 1_000;
const STEPS = 500;
const TERMINAL = ['succeeded', 'failed', 'canceled', 'expired'];
/**
 * What the pictures show: a job of many nodes whose first worker was lost, a failed one, a batch, models, a deployment, keys,
 * invitations, a webhook endpoint, and an account that has none of it.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {RunFile} run
 * @returns {Promise<Planted>}
 */
export async function plant(scope, run) {
  const { id: account } = await call(run, 'GET', '/platform/v1/account');
  const workflow = await portrait(run);
  const job = await finished(scope, run, workflow, { user: 'ada', order: '4711' });
  const failed = await finished(scope, run, await failing(run), { user: 'grace' });
  const batch = await plantBatch(scope, run);
  for (const name of ['nightly', 'shop']) {
    await call(run, 'POST', '/platform/v1/api-keys', { name, scopes: ['jobs:read', 'jobs:write'] });
  }
  for (const [email, role] of [
    ['ada@shop.example', 'developer'],
    ['books@shop.example', 'finance'],
  ]) {
    await call(run, 'POST', '/platform/v1/invitations', { email, role });
  }
  await plantModels(run);
  await deployed(scope, run);
  const { id: empty } = await admin(run, 'accounts', { name: 'Nobody yet' });
  await loseFirstWorker(run, job);
  const endpoint = await plantEndpoint(run, [job, failed]);
  return { account: String(account), empty: String(empty), job, failed, batch, endpoint };
}

/**
 * A thousand ended jobs of the account, before all others.
 *
 * @param {RunFile} run
 * @param {string} job of whose kind they are
 */
export async function plantRows(run, job) {
  await onDatabase(run.databaseUrl, async (client) => {
    // The rules of the tables are for what happened; this is set up.
    await client.query('SET session_replication_role = replica');
    await client.query(
      `INSERT INTO jobs (id, account_id, pool_id, surface, status, delivery, attempt, max_attempts, created_at, started_at, completed_at,
         charged_micros, deadline_at, expires_at, metadata)
       SELECT (lpad(to_hex(n), 8, '0') || '-0000-7000-8000-000000000000')::uuid, account_id, pool_id, surface, 'succeeded', 'done', 1, 3,
         now() - make_interval(mins => ${ROWS + 10} - n), now() - make_interval(mins => ${ROWS + 10} - n), now() - make_interval(mins => ${ROWS + 10} - n),
         0, now() + interval '1 day', now() + interval '7 days', jsonb_build_object('order', n::text)
       FROM jobs, generate_series(1, ${ROWS}) AS n WHERE id = $1`,
      [job],
    );
  });
}

/**
 * @param {RunFile} run
 * @param {string} job
 */
async function loseFirstWorker({ databaseUrl }, job) {
  await onDatabase(databaseUrl, async (client) => {
    // The rules of the tables are for what happened; this is set up.
    await client.query('SET session_replication_role = replica');
    await client.query('UPDATE job_attempts SET attempt = 2 WHERE job_id = $1', [job]);
    await client.query(
      `INSERT INTO job_attempts (job_id, attempt, worker_id, claimed_at, ended_at, outcome)
       SELECT job_id, 1, gen_random_uuid(), claimed_at - interval '14 s', claimed_at - interval '2 s', 'lost' FROM job_attempts WHERE job_id = $1`,
      [job],
    );
  });
}

/**
 * A deployment with a worker that is ready.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {RunFile} run
 */
async function deployed(scope, run) {
  // The fleet process reports what there is to run on, and may start later than the workers.
  while (!(await hasClasses(run))) await scope.pause(POLL_MS);
  const wish = { name: 'portraits', engine_class: 'cpu', min_workers: 1, max_workers: 2 };
  const { id } = await call(run, 'POST', '/platform/v1/deployments', wish);
  for (;;) {
    const { state } = await call(run, 'GET', `/platform/v1/deployments/${String(id)}`);
    if (state === 'ready') return;
    await scope.pause(POLL_MS);
  }
}

/** @param {RunFile} run */
async function hasClasses(run) {
  const { engine_classes: classes } = await call(run, 'GET', '/platform/v1/engine-classes');
  return Array.isArray(classes) && classes.length > 0;
}

/**
 * The demo's graph, with its input uploaded. Fewer steps make the same picture less grown.
 *
 * @param {RunFile} run
 */
async function portrait(run) {
  const text = readFileSync(join(ROOT, 'examples', 'portrait-in-coral.json'), 'utf8');
  const image = await upload(run, readFileSync(join(ROOT, 'examples', 'input.png')));
  // As text: its seeds have more digits than a number of JavaScript.
  return text.replace(/"steps": \d+/g, `"steps": ${STEPS}`).replace('"input.png"', JSON.stringify(image));
}

/**
 * A graph whose picture is none: its first node fails.
 *
 * @param {RunFile} run
 */
async function failing(run) {
  const image = await upload(run, Buffer.from('This is no picture.'));
  return JSON.stringify({
    1: { class_type: 'LoadImage', inputs: { image } },
    2: { class_type: 'ImageInvert', inputs: { image: ['1', 0] } },
    3: { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: 'inverted' } },
  });
}

/**
 * @param {RunFile} run
 * @param {Buffer<ArrayBuffer>} bytes
 */
async function upload({ publicUrl, apiKey }, bytes) {
  const form = new FormData();
  form.set('content_type', 'image/png');
  form.set('file_path', 'input.png');
  form.set('file', new Blob([bytes], { type: 'image/png' }), 'input.png');
  const headers = { authorization: `Bearer ${apiKey}` };
  const response = await fetch(`${publicUrl}/api/v2/assets`, { method: 'POST', headers, body: form });
  const { id } = /** @type {{ id: string }} */ (await response.json());
  return { __type: 'core/ASSET', info: { id } };
}

/**
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {RunFile} run
 * @param {string} workflow the graph's text
 * @param {Record<string, string>} metadata
 * @returns {Promise<string>} its id, when it has ended
 */
async function finished(scope, run, workflow, metadata) {
  const body = `{"workflow": ${workflow}, "metadata": ${JSON.stringify(metadata)}}`;
  const { id } = await call(run, 'POST', '/api/v2/jobs', body);
  for (;;) {
    const { status } = await call(run, 'GET', `/api/v2/jobs/${String(id)}`);
    if (TERMINAL.includes(String(status))) return String(id);
    await scope.pause(POLL_MS);
  }
}
