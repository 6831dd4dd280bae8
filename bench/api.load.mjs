import { createHash, randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { createRequire } from 'node:module';
import pg from 'pg';

// The built libs: this process runs without the compiler's path aliases.
const built = createRequire(new URL('../dist/libs/', import.meta.url));
const { LedgerStore } = built('./billing/src/index.js');
const { newId } = built('./contracts/src/index.js');
const { jobSettings } = built('./jobs/src/job.settings.js');
const { SubmissionStore } = built('./jobs/src/submission.store.js');
const { readSettings } = built('./platform/src/index.js');

/**
 * @typedef {{ publicUrl: string, opsUrl: string, adminToken: string, databaseUrl: string }} Stack
 * @typedef {{ id: string, key: string }} Account
 * @typedef {{ method: string, path: string, key: string, body?: string, headers?: Record<string, string> }} Call
 */

const ACCOUNTS = 100;
const CONCURRENCY = 32;
const NODES = 20;
const POOL = 'default';

/** Twenty nodes and about five kilobytes, as a submission of a small real workflow has them. */
const GRAPH = JSON.stringify({
  1: { class_type: 'EmptyImage', inputs: { width: 64, height: 64, batch_size: 1, color: 1 } },
  ...Object.fromEntries(
    Array.from({ length: NODES - 2 }, (_, index) => [
      String(index + 2),
      {
        class_type: 'ImageInvert',
        inputs: { image: [String(index + 1), 0] },
        _meta: { title: `Inverted ${index} `.padEnd(160, 'x') },
      },
    ]),
  ),
  [NODES]: { class_type: 'SaveImage', inputs: { images: [String(NODES - 1), 0], filename_prefix: 'bench' } },
});
const BODY = `{"workflow":${GRAPH},"metadata":{"label":"bench"}}`;
const REFUSED_BODY = BODY.replace('"width":64', '"width":"wide"');

const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });
/** @type {Stack} */
let stack;
/** @type {Account[]} */
const accounts = [];
/** @type {string[]} */
let jobs = [];
/** @type {pg.Pool} */
let pool;

/**
 * Make the accounts, and let the pool be one whose workers have published what they run and have gone: nothing starts, so
 * that only what is measured is running.
 *
 * @param {Stack} input
 */
export async function prepare(input) {
  stack = input;
  pool = new pg.Pool({ connectionString: stack.databaseUrl, max: CONCURRENCY });
  const document = JSON.stringify(catalogue());
  const digest = createHash('sha256').update(document).digest('hex');
  await pool.query('INSERT INTO catalogues (digest, engine, node_count, document) VALUES ($1, $2, 3, $3)', [
    digest,
    'cpu',
    document,
  ]);
  await pool.query(
    `INSERT INTO pools (id, engine, catalogue_digest) VALUES ($1, 'cpu', $2)
     ON CONFLICT (id) DO UPDATE SET catalogue_digest = excluded.catalogue_digest`,
    [POOL, digest],
  );
  while (accounts.length < ACCOUNTS) accounts.push(await makeAccount());
}

function catalogue() {
  const image = { type: 'IMAGE', required: true, linkOnly: true };
  const integer = { type: 'INT', required: true };
  const node = { displayName: '', category: '', description: '', outputs: [{ type: 'IMAGE', name: '', list: false }] };
  return {
    EmptyImage: {
      ...node,
      inputs: { width: integer, height: integer, batch_size: integer, color: integer },
      outputNode: false,
    },
    ImageInvert: { ...node, inputs: { image }, outputNode: false },
    SaveImage: {
      ...node,
      inputs: { images: image, filename_prefix: { type: 'STRING', required: true } },
      outputs: [],
      outputNode: true,
    },
  };
}

/** @returns {Promise<Account>} */
async function makeAccount() {
  const admin = async (/** @type {string} */ path, /** @type {object} */ body) => {
    const response = await fetch(`${stack.opsUrl}/admin/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return /** @type {any} */ (await response.json());
  };
  const { id } = await admin('/accounts', { name: 'bench', queue_limit: 1_000_000 });
  await admin(`/accounts/${id}/credits`, { amount_micros: 1_000_000_000_000, reason: 'bench' });
  const { key } = await admin(`/accounts/${id}/api-keys`, { name: 'bench' });
  return { id, key };
}

/** @param {{ seconds: number }} input */
export function submissionsPerSecond({ seconds }) {
  return rateOf(seconds, async () => {
    const { status, text } = await send({
      ...submission(anyAccount().key),
      headers: { 'idempotency-key': randomUUID() },
    });
    if (status !== 201) throw new Error(`a submission was refused: ${status} ${text}`);
    jobs.push(JSON.parse(text).id);
    if (jobs.length > 1_000) jobs = jobs.slice(-1_000);
  });
}

/** The statement that a submission is, alone. @param {{ seconds: number }} input */
export function bareCommitsPerSecond({ seconds }) {
  const settings = readSettings(jobSettings, {});
  const store = new SubmissionStore(new LedgerStore(), settings);
  const statements = /** @type {any} */ ({
    query: async (/** @type {{ text: string, values: unknown[] }} */ { text, values }) =>
      (await pool.query({ name: 'submission', text, values })).rows,
  });
  return rateOf(seconds, async () => {
    /** @type {import('../libs/jobs/src/submission').JobDraft} */
    const draft = {
      id: newId(),
      accountId: anyAccount().id,
      surface: 'cloud',
      deploymentId: null,
      apiKeyId: null,
      poolId: POOL,
      workflow: GRAPH,
      nodeCount: NODES,
      inputAssetIds: [],
      metadata: { label: 'bench' },
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
    await store.record(statements, draft);
  });
}

/** @param {{ seconds: number, path: 'unauthorized' | 'invalid_workflow' }} input */
export function refusalsPerSecond({ seconds, path }) {
  const [expected, call] = {
    unauthorized: /** @type {const} */ ([401, () => submission('mr_live_wrong')]),
    invalid_workflow: /** @type {const} */ ([422, () => ({ ...submission(anyAccount().key), body: REFUSED_BODY })]),
  }[path];
  return rateOf(seconds, async () => {
    const { status, text } = await send(call());
    if (status !== expected) throw new Error(`${expected} was expected: ${status} ${text}`);
  });
}

/** @param {{ seconds: number }} input */
export async function pollsPerSecond({ seconds }) {
  const account = accounts[0];
  if (account === undefined) throw new Error('nothing is prepared');
  const { text } = await send({ ...submission(account.key) });
  const path = `/api/v2/jobs/${JSON.parse(text).id}`;
  return rateOf(seconds, async () => {
    const { status, text: answer } = await send({ method: 'GET', path, key: account.key });
    if (status !== 200) throw new Error(`a poll was refused: ${status} ${answer}`);
  });
}

/** @param {{ seconds: number }} input */
export async function bareSelectsPerSecond({ seconds }) {
  return rateOf(seconds, async () => {
    const id = jobs[Math.floor(Math.random() * jobs.length)];
    await pool.query({ name: 'select', text: 'SELECT * FROM jobs WHERE id = $1', values: [id] });
  });
}

function anyAccount() {
  const account = accounts[Math.floor(Math.random() * accounts.length)];
  if (account === undefined) throw new Error('nothing is prepared');
  return account;
}

/**
 * @param {string} key
 * @returns {Call}
 */
const submission = (key) => ({ method: 'POST', path: '/api/v2/jobs', key, body: BODY });

/**
 * @param {number} seconds
 * @param {() => Promise<void>} act
 * @returns {Promise<number>} acts per second, so many at a time
 */
async function rateOf(seconds, act) {
  const until = performance.now() + seconds * 1_000;
  const startedAt = performance.now();
  let acts = 0;
  const lane = async () => {
    while (performance.now() < until) {
      await act();
      acts += 1;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
  return acts / ((performance.now() - startedAt) / 1_000);
}

/**
 * @param {Call} call
 * @returns {Promise<{ status: number, text: string }>}
 */
function send({ method, path, key, body, headers = {} }) {
  const { hostname, port } = new URL(stack.publicUrl);
  const length =
    body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const options = {
      agent,
      hostname,
      port,
      method,
      path,
      headers: { authorization: `Bearer ${key}`, ...length, ...headers },
    };
    const sent = request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (/** @type {string} */ part) => (text += part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', reject);
    });
    sent.on('error', reject).end(body);
  });
}
