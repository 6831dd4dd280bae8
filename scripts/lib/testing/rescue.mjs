import { send } from '../system/index.mjs';

const POLL_MS = 10;
const LIMIT_MS = 60_000;
/** More than a third of a lease, so that workers die at any moment between two of its renewals. */
const LONGEST_RUN_MS = 4_000;
/** For minutes, on any machine. */
const GRAPH = {
  1: {
    class_type: 'MillraceReactionDiffusion',
    inputs: { width: 512, height: 512, steps: 100_000, seed: 1, feed: 0.055, kill: 0.062 },
  },
  2: { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'x' } },
};

/**
 * @typedef {import('../command/scope.mjs').Scope} Scope
 * @typedef {{ publicUrl: string, apiKey: string, databaseUrl: string }} Stack
 */

/** With so many attempts no job of a measurement fails for its lost workers. */
export const RESCUE_SETTINGS = { MILLRACE_MAX_ATTEMPTS: '100' };

/**
 * Run jobs on as many workers, kill all of these at once, and see when each job's next attempt starts. At least one worker
 * more must be there. The jobs are canceled then.
 *
 * @param {Scope} scope
 * @param {Stack} stack whose workers are started again by its owner
 * @param {number} kills
 * @returns {Promise<number[]>} milliseconds of each, from SIGKILL to the claim of the next attempt
 */
export async function measureRescues(scope, stack, kills) {
  const { default: pg } = await import('pg');
  const database = new pg.Pool({ connectionString: stack.databaseUrl, max: kills });
  try {
    const jobs = await Promise.all(Array.from({ length: kills }, () => submit(stack)));
    const pids = await Promise.all(jobs.map((id) => until(scope, () => pidOf(database, id))));
    await scope.pause(Math.random() * LONGEST_RUN_MS);
    const killedAt = Date.now();
    for (const pid of pids) send(pid, 'SIGKILL');
    const waits = await Promise.all(
      jobs.map(async (id) => {
        await until(scope, () => first(database, 'SELECT 1 FROM job_attempts WHERE job_id = $1 AND attempt = 2', id));
        return Date.now() - killedAt;
      }),
    );
    for (const id of jobs) await call(stack, 'POST', `/api/v2/jobs/${id}/cancel`);
    for (const id of jobs) {
      await until(scope, () => first(database, "SELECT 1 FROM jobs WHERE id = $1 AND delivery = 'done'", id));
    }
    return waits;
  } finally {
    await database.end();
  }
}

/** @param {Stack} stack */
async function submit(stack) {
  const { id } = await call(stack, 'POST', '/api/v2/jobs', { workflow: GRAPH });
  return id;
}

/**
 * @param {import('pg').Pool} database
 * @param {string} id
 * @returns {Promise<number | undefined>} process that runs the job's first attempt
 */
async function pidOf(database, id) {
  const row = await first(
    database,
    'SELECT w.pid FROM jobs j JOIN workers w ON w.id = j.worker_id WHERE j.id = $1 AND j.attempt = 1',
    id,
  );
  return row && Number(row.pid);
}

/**
 * @param {import('pg').Pool} database
 * @param {string} statement
 * @param {string} id
 * @returns {Promise<Record<string, unknown> | undefined>}
 */
async function first(database, statement, id) {
  /** @type {import('pg').QueryResult<Record<string, unknown>>} */
  const { rows } = await database.query(statement, [id]);
  return rows[0];
}

/**
 * @template T
 * @param {Scope} scope
 * @param {() => Promise<T | undefined>} look
 * @returns {Promise<T>}
 */
async function until(scope, look) {
  const deadline = Date.now() + LIMIT_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error('it did not happen within a minute');
    await scope.pause(POLL_MS);
  }
}

/**
 * @param {Stack} stack
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 */
async function call(stack, method, path, body) {
  const response = await fetch(stack.publicUrl + path, {
    method,
    headers: { authorization: `Bearer ${stack.apiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return /** @type {{ id: string }} */ (await response.json());
}
