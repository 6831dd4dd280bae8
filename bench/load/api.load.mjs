import pg from 'pg';
import { anyOf, makeAccounts } from '../lib/accounts.mjs';
import { BODY, plantPool } from '../lib/graph.mjs';
import { openClient, submission, submit } from '../lib/http.mjs';
import { CONCURRENCY, rateOf } from '../lib/rate.mjs';
import { bareInserts, bareStatements, recordJob } from '../lib/recording.mjs';

/** @typedef {import('../lib/accounts.mjs').Stack} Stack */

const ACCOUNTS = 100;
const REFUSED_BODY = BODY.replace('"width":64', '"width":"wide"');

/** @type {import('../lib/http.mjs').Send} */
let send;
/** To the bare server that refuses. @type {import('../lib/http.mjs').Send} */
let sendBare;
/** @type {import('../lib/accounts.mjs').Account[]} */
let accounts = [];
/** @type {pg.Pool} */
let pool;

/** Make the accounts, and a pool in which nothing starts, so that only what is measured is running. @param {Stack & { bareUrl: string }} stack */
export async function prepare(stack) {
  send = openClient(stack.publicUrl, CONCURRENCY);
  sendBare = openClient(stack.bareUrl, CONCURRENCY);
  pool = new pg.Pool({ connectionString: stack.databaseUrl, max: CONCURRENCY });
  await plantPool(pool);
  accounts = await makeAccounts(stack, ACCOUNTS);
}

/** @param {{ seconds: number, of?: number }} input `of` so many of the accounts; of all by default */
export function submissionsPerSecond({ seconds, of = ACCOUNTS }) {
  const submitters = accounts.slice(0, of);
  return rateOf(seconds, () => submit(send, anyOf(submitters).key));
}

/** The statement that a submission is, alone. @param {{ seconds: number }} input */
export function bareCommitsPerSecond({ seconds }) {
  const statements = bareStatements(pool, 'submission');
  return rateOf(seconds, () => recordJob(statements, anyOf(accounts).id));
}

/** The least that makes as many bytes durable. @param {{ seconds: number }} input */
export async function bareInsertsPerSecond({ seconds }) {
  return rateOf(seconds, await bareInserts(pool));
}

/** @typedef {401 | 422} Refusal */

/** @type {Record<Refusal, () => import('../lib/http.mjs').Call>} */
const REFUSED = {
  401: () => submission('mr_live_wrong'),
  422: () => ({ ...submission(anyOf(accounts).key), body: REFUSED_BODY }),
};

/** @param {{ seconds: number, status: Refusal }} input */
export function refusalsPerSecond({ seconds, status }) {
  return rateOf(seconds, () => refuse(send, status, REFUSED[status]()));
}

/** The same requests to the bare server. @param {{ seconds: number, status: Refusal }} input */
export function bareRefusalsPerSecond({ seconds, status }) {
  return rateOf(seconds, () => refuse(sendBare, status, { ...REFUSED[status](), path: `/${status}` }));
}

/** @param {import('../lib/http.mjs').Send} to @param {Refusal} expected @param {import('../lib/http.mjs').Call} call */
async function refuse(to, expected, call) {
  const { status, text } = await to(call);
  if (status !== expected) throw new Error(`${expected} was expected: ${status} ${text}`);
}
