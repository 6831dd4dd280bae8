import { createHash } from 'node:crypto';
import pg from 'pg';
import { parseJson } from '../../scripts/lib/system/index.mjs';
import { anyOf, makeAccounts } from '../lib/accounts.mjs';
import { openClient, submit } from '../lib/http.mjs';
import { TERMINAL } from '../lib/job-runs.mjs';

/**
 * @typedef {import('../lib/accounts.mjs').Stack} Stack
 * @typedef {import('../lib/accounts.mjs').Account} Account
 * @typedef {{ number: number, url: string }} Part
 */

const ACCOUNTS = 4;
const POLL_MS = 100;
const LIMIT_MS = 300_000;

/** @type {Account[]} */
let accounts = [];
/** @type {import('../lib/http.mjs').Send} */
let send;
/** @type {Stack} */
let stack;

/**
 * Models of one size that every account may use.
 *
 * @param {Stack & { models: number, modelBytes: number }} input
 */
export async function prepare({ models, modelBytes, ...given }) {
  stack = given;
  send = openClient(stack.publicUrl, ACCOUNTS);
  accounts = await makeAccounts(stack, ACCOUNTS);
  for (let nth = 0; nth < models; nth += 1) await addModel(modelName(nth), weights(nth, modelBytes));
}

/** @param {number} nth */
const modelName = (nth) => `bench/model-${nth}.safetensors`;

/**
 * A file of weights with one tensor.
 *
 * @param {number} nth so that no two have the same bytes
 * @param {number} size
 */
function weights(nth, size) {
  const tensor = { dtype: 'U8', shape: [size], data_offsets: [0, size] };
  const header = Buffer.from(JSON.stringify({ __metadata__: { nth: String(nth) }, 'double_blocks.0.weight': tensor }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, Buffer.alloc(size, createHash('sha256').update(String(nth)).digest())]);
}

/**
 * @param {string} name
 * @param {Buffer} bytes
 */
async function addModel(name, bytes) {
  const { key } = anyOf(accounts.slice(0, 1));
  const body = JSON.stringify({ folder: 'checkpoints', name, size_bytes: bytes.length });
  const { id, upload } = /** @type {{ id: string, upload: { part_size_bytes: number, parts: Part[] } }} */ (
    await call({ method: 'POST', path: '/platform/v1/models', key, body })
  );
  for (const { number, url } of upload.parts) {
    const from = (number - 1) * upload.part_size_bytes;
    const part = new Uint8Array(bytes.subarray(from, from + upload.part_size_bytes));
    const headers = { 'content-type': 'application/octet-stream' };
    const { ok, status } = await fetch(new URL(url, stack.publicUrl), { method: 'PUT', body: part, headers });
    if (!ok) throw new Error(`a part of a model was refused: ${status}`);
  }
  await call({ method: 'POST', path: `/platform/v1/models/${id}/complete`, key });
  const shared = await fetch(`${stack.opsUrl}/admin/v1/models/${id}/share`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.adminToken}` },
  });
  if (!shared.ok) throw new Error(`a model could not be shared: ${shared.status}`);
}

/** @param {import('../lib/http.mjs').Call} request */
async function call(request) {
  const { status, text } = await send(request);
  if (status >= 300) throw new Error(`${request.path} was answered with ${status}: ${text.slice(0, 300)}`);
  return parseJson(text);
}

/**
 * Submit jobs at once, each of the next account and with one model, and wait until all have succeeded.
 *
 * @param {{ order: number[] }} input the model of each job
 * @returns {Promise<{ seconds: number, waitSeconds: number }>} from the first submission to the last end, and from the turn of a job to its
 * claim, of the one that waited longest
 */
export async function runJobs({ order }) {
  const startedAt = performance.now();
  const jobs = await Promise.all(
    order.map(async (model, nth) => {
      const { key } = /** @type {Account} */ (accounts[nth % ACCOUNTS]);
      return { key, id: await submit(send, key, graph(model)) };
    }),
  );
  for (const job of jobs) await untilSucceeded(job);
  const seconds = (performance.now() - startedAt) / 1_000;
  return { seconds, waitSeconds: await longestWait(jobs.map(({ id }) => id)) };
}

/**
 * @param {string[]} ids
 * @returns {Promise<number>} seconds
 */
async function longestWait(ids) {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  const { rows } = await client.query(
    `SELECT max(extract(epoch FROM a.claimed_at - j.dispatched_at))::float8 AS seconds
     FROM jobs j JOIN job_attempts a ON a.job_id = j.id WHERE j.id = ANY ($1::uuid[])`,
    [ids],
  );
  await client.end();
  return /** @type {{ seconds: number }[]} */ (rows)[0]?.seconds ?? Number.NaN;
}

/** @param {number} model */
const graph = (model) =>
  JSON.stringify({
    workflow: {
      1: { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: modelName(model) } },
      2: { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
    },
  });

/** @param {{ key: string, id: string }} job */
async function untilSucceeded({ key, id }) {
  const until = performance.now() + LIMIT_MS;
  for (;;) {
    const { status } = /** @type {{ status: string }} */ (
      await call({ method: 'GET', path: `/api/v2/jobs/${id}`, key })
    );
    if (status === 'succeeded') return;
    if (TERMINAL.has(status)) throw new Error(`job ${id} has ended as ${status}`);
    if (performance.now() > until) throw new Error(`job ${id} has not ended in time`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
