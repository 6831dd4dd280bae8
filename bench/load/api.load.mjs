import pg from 'pg';
import { anyOf, makeAccounts } from '../lib/accounts.mjs';
import { BODY, plantPool } from '../lib/graph.mjs';
import { openClient, submission, submit } from '../lib/http.mjs';
import { CONCURRENCY, rateOf } from '../lib/rate.mjs';
import { bareStatements, recordJob } from '../lib/recording.mjs';

/** @typedef {import('../lib/accounts.mjs').Stack} Stack */

const ACCOUNTS = 100;
const REFUSED_BODY = BODY.replace('"width":64', '"width":"wide"');

/** @type {import('../lib/http.mjs').Send} */
let send;
/** @type {import('../lib/accounts.mjs').Account[]} */
let accounts = [];
/** @type {pg.Pool} */
let pool;

/** Make the accounts, and a pool in which nothing starts, so that only what is measured is running. @param {Stack} stack */
export async function prepare(stack) {
  send = openClient(stack.publicUrl, CONCURRENCY);
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

/** @param {{ seconds: number, path: 'unauthorized' | 'invalid_workflow' }} input */
export function refusalsPerSecond({ seconds, path }) {
  const [expected, call] = {
    unauthorized: /** @type {const} */ ([401, () => submission('mr_live_wrong')]),
    invalid_workflow: /** @type {const} */ ([422, () => ({ ...submission(anyOf(accounts).key), body: REFUSED_BODY })]),
  }[path];
  return rateOf(seconds, async () => {
    const { status, text } = await send(call());
    if (status !== expected) throw new Error(`${expected} was expected: ${status} ${text}`);
  });
}
