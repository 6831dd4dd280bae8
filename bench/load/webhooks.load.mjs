import { createServer } from 'node:http';
import { setTimeout as after } from 'node:timers/promises';
import pg from 'pg';
import { parseJson } from '../../scripts/lib/system/index.mjs';
import { makeAccounts } from '../lib/accounts.mjs';
import { plantPool } from '../lib/graph.mjs';
import { openClient, submit } from '../lib/http.mjs';
import { CONCURRENCY } from '../lib/rate.mjs';

/** Of messages that arrived at receivers that are well, in milliseconds from the event. @typedef {{ p50: number, p99: number }} Latency */
/** @typedef {{ id: string, key: string }} Endpoint `key`: of its account. */

const ACCOUNTS = 5;
/** As many as an account may have by default. */
const ENDPOINTS_OF_EACH = 10;
/** Of all accounts: 500 messages a second, about half of what one process of maintenance sends on two cores. */
const ENDS_PER_SECOND = 50;
const SLOW_MS = 3_000;
const LIMIT_MS = 300_000;
const POLL_MS = 20;

/** @type {import('../lib/http.mjs').Send} */
let send;
/** @type {import('../lib/accounts.mjs').Account[]} */
let accounts;
/** The address of the receivers; a number after it names one. */
let origin = '';
/** Times from the event to the arrival, of the turn under way. @type {number[]} */
let arrived = [];
/** Whether receiver 0 is dead and receiver 1 slow. */
let isSick = false;

/** @param {import('../lib/accounts.mjs').Stack} stack */
export async function prepare(stack) {
  send = openClient(stack.publicUrl, CONCURRENCY);
  const pool = new pg.Pool({ connectionString: stack.databaseUrl, max: 1 });
  await plantPool(pool);
  await pool.end();
  accounts = await makeAccounts(stack, ACCOUNTS);
  const server = createServer((request, response) => {
    const receiver = Number(request.url?.slice(1).split('?')[0]);
    const chunks = /** @type {Buffer[]} */ ([]);
    request.on('data', (/** @type {Buffer} */ chunk) => chunks.push(chunk));
    request.on('end', () => void receive(receiver, Buffer.concat(chunks).toString(), response));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  origin = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`;
}

/**
 * @param {number} receiver
 * @param {string} body
 * @param {import('node:http').ServerResponse} response
 */
async function receive(receiver, body, response) {
  const isDead = isSick && receiver === 0;
  const isSlow = isSick && receiver === 1;
  // Never answered: the sender gives up.
  if (isDead) return;
  if (isSlow) await after(SLOW_MS);
  else arrived.push(Date.now() - Date.parse(/** @type {{ timestamp: string }} */ (parseJson(body)).timestamp));
  response.writeHead(204).end();
}

/**
 * Have jobs of all accounts end, one after the other at a steady rate, and wait until every receiver that is well has every message.
 *
 * @param {{ sick: boolean, jobsPerAccount: number }} input `sick`: one receiver is dead and one slow.
 * @returns {Promise<Latency>}
 */
export async function deliver({ sick, jobsPerAccount }) {
  isSick = sick;
  arrived = [];
  const endpoints = await makeEndpoints();
  const waiting = Array.from({ length: jobsPerAccount }, () => accounts.map(({ key }) => key)).flat();
  const count = waiting.length;
  const beganAt = performance.now();
  const endNext = async () => {
    for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
      const dueAt = beganAt + ((count - waiting.length) / ENDS_PER_SECOND) * 1_000;
      await after(Math.max(0, dueAt - performance.now()));
      const path = `/api/v2/jobs/${await submit(send, key)}/cancel`;
      await expectStatus(200, { method: 'POST', path, key });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, endNext));
  const well = endpoints.length - (sick ? 2 : 0);
  const expected = well * jobsPerAccount;
  const until = Date.now() + LIMIT_MS;
  while (arrived.length < expected) {
    if (Date.now() > until) throw new Error(`${arrived.length} of ${expected} messages arrived in time`);
    await after(POLL_MS);
  }
  for (const { id, key } of endpoints) {
    await expectStatus(204, { method: 'DELETE', path: `/platform/v1/webhook-endpoints/${id}`, key });
  }
  const sorted = arrived.sort((a, b) => a - b);
  const at = (/** @type {number} */ share) => sorted[Math.ceil(share * sorted.length) - 1] ?? NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

/** @returns {Promise<Endpoint[]>} of receivers 0, 1, 2 and so on */
async function makeEndpoints() {
  const endpoints = [];
  for (const { key } of accounts) {
    for (let nth = 0; nth < ENDPOINTS_OF_EACH; nth += 1) {
      const body = JSON.stringify({ url: `${origin}/${endpoints.length}`, events: ['job.canceled'] });
      const text = await expectStatus(201, { method: 'POST', path: '/platform/v1/webhook-endpoints', key, body });
      endpoints.push({ id: /** @type {{ id: string }} */ (parseJson(text)).id, key });
    }
  }
  return endpoints;
}

/**
 * @param {number} wanted
 * @param {import('../lib/http.mjs').Call} call
 * @returns {Promise<string>} the body
 */
async function expectStatus(wanted, call) {
  const { status, text } = await send(call);
  if (status !== wanted) throw new Error(`${call.method} ${call.path} was answered with ${status}: ${text}`);
  return text;
}
