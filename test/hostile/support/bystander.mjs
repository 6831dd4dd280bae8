// Another account while one account attacks: it polls a job of its own and has small jobs run. A process of its own, so that
// what the attack costs its sender does not count as the service's delay.
import { Agent, request } from 'node:http';
import process from 'node:process';

/**
 * What it saw, in milliseconds.
 *
 * @typedef {{ pollMs: number[], startMs: number[], failures: string[] }} Observations
 * `pollMs`: from sending a poll to the last byte of its answer. `startMs`: from submitting a job to its start.
 */

const POLL_EVERY_MS = 50;
const JOB_EVERY_MS = 1_000;
const LOOK_EVERY_MS = 50;
/** Counts as this long. */
const GIVE_UP_MS = 30_000;
const GRAPH = {
  1: { class_type: 'PrimitiveInt', inputs: { value: 7 } },
  2: { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
};

const [origin = '', apiKey = '', jobId = '', localAddress = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 64, localAddress });
/** @type {Observations} */
const seen = { pollMs: [], startMs: [], failures: [] };
/** @type {Set<Promise<void>>} */
const open = new Set();
const startedAt = performance.now();
const end = new AbortController();

/**
 * @param {string} method
 * @param {string} path
 * @param {object} [json]
 * @returns {Promise<{ status: number, body: string }>}
 */
function call(method, path, json) {
  const body = json && JSON.stringify(json);
  const headers = {
    authorization: `Bearer ${apiKey}`,
    ...(body ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) } : {}),
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${origin}${path}`, { method, headers, agent, timeout: GIVE_UP_MS }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (/** @type {string} */ chunk) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
      response.on('error', reject);
    });
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${GIVE_UP_MS} ms`)));
    sent.on('error', reject);
    sent.end(body);
  });
}

async function poll() {
  const from = performance.now();
  const { status } = await call('GET', `/api/v2/jobs/${jobId}`);
  seen.pollMs.push(performance.now() - from);
  if (status !== 200) seen.failures.push(`a poll was answered with ${status}`);
}

async function runJob() {
  const from = performance.now();
  const { status, body } = await call('POST', '/api/v2/jobs', { workflow: GRAPH });
  if (status !== 201) return void seen.failures.push(`a job was answered with ${status} ${body.slice(0, 200)}`);
  const { id } = /** @type {{ id: string }} */ (JSON.parse(body));
  while (performance.now() - from < GIVE_UP_MS) {
    const job = /** @type {{ started_at: string | null }} */ (
      JSON.parse((await call('GET', `/api/v2/jobs/${id}`)).body)
    );
    if (job.started_at !== null) return void seen.startMs.push(performance.now() - from);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  seen.failures.push(`a job did not start within ${GIVE_UP_MS} ms`);
}

let waits = false;

/** One after the other: on workers that the attack keeps busy, more than its share of jobs would wait for each other. */
async function runNextJob() {
  if (waits) return;
  waits = true;
  await runJob().finally(() => (waits = false));
}

/** @param {() => Promise<void>} work that is begun on time, however long the one before takes */
function begin(work) {
  const one = work()
    .catch((/** @type {Error} */ error) => void seen.failures.push(error.message))
    .finally(() => open.delete(one));
  open.add(one);
}

const timers = [setInterval(() => begin(poll), POLL_EVERY_MS), setInterval(() => begin(runNextJob), JOB_EVERY_MS)];
process.on('message', () => end.abort());
process.on('disconnect', () => process.exit(1));
end.signal.addEventListener('abort', () => {
  for (const timer of timers) clearInterval(timer);
  void Promise.all(open).then(() => {
    process.send?.({ ...seen, seconds: (performance.now() - startedAt) / 1_000 });
    process.disconnect();
    agent.destroy();
  });
});
