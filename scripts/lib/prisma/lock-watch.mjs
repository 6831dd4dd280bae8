import { pause, say } from '../command/index.mjs';

/** @typedef {import('pg').Client} Client */
/** @typedef {{ pid: number, name: string, seconds: number, query: string }} Blocker */

const LOOK_EVERY_MS = 500;

const BLOCKERS = `
  SELECT pid, coalesce(nullif(application_name, ''), backend_type) AS name, left(regexp_replace(query, '\\s+', ' ', 'g'), 80) AS query,
         extract(epoch FROM clock_timestamp() - coalesce(xact_start, backend_start))::integer AS seconds
    FROM pg_stat_activity WHERE pid = ANY (pg_blocking_pids($1))`;

/**
 * Do work in a session while another looks at it: says whom it waits for, each once, and cancels its statement when the command should
 * end. PostgreSQL would otherwise run that to its end, though its client is gone.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {Client} client the session
 * @param {Client} watcher the other one, of the same user
 * @param {string} name of the work, for the log
 * @param {() => Promise<void>} work
 */
export async function underWatch(scope, client, watcher, name, work) {
  /** @type {import('pg').QueryResult<{ pid: number }>} */
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  const done = new AbortController();
  const watching = watch(scope, watcher, rows[0]?.pid ?? 0, name, done.signal);
  try {
    await work();
  } finally {
    done.abort();
    await watching;
  }
}

/**
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {Client} watcher
 * @param {number} pid of the session
 * @param {string} name
 * @param {AbortSignal} done
 */
async function watch(scope, watcher, pid, name, done) {
  /** @type {Set<number>} */
  const said = new Set();
  for (;;) {
    await pause(LOOK_EVERY_MS, done);
    if (done.aborted) return;
    const look = scope.signal.aborted
      ? watcher.query('SELECT pg_cancel_backend($1)', [pid])
      : sayBlockers(watcher, pid, name, said);
    // Who only watches must not fail the work.
    await look.catch(() => undefined);
  }
}

/**
 * @param {Client} watcher
 * @param {number} pid
 * @param {string} name
 * @param {Set<number>} said
 */
async function sayBlockers(watcher, pid, name, said) {
  /** @type {import('pg').QueryResult<Blocker>} */
  const { rows } = await watcher.query(BLOCKERS, [pid]);
  for (const blocker of rows.filter((row) => !said.has(row.pid))) {
    said.add(blocker.pid);
    say(
      `${name}: waits for process ${blocker.pid} of PostgreSQL (${blocker.name}, for ${blocker.seconds} s): ${blocker.query}`,
    );
  }
}
