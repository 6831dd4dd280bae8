import { setTimeout as after } from 'node:timers/promises';
import { TERMINAL, jobLatencyMs, light, promptLatencyMs } from '../lib/job-runs.mjs';
import { openClient } from '../lib/http.mjs';
import { CONCURRENCY, rateOf } from '../lib/rate.mjs';
import { parseJson } from '../../scripts/lib/system/index.mjs';

export { warmUp } from '../lib/job-runs.mjs';

/** @typedef {{ publicUrl: string, apiKey: string }} Service */

const POLL_MS = 20;

/**
 * What a job takes longer than the same prompt sent to ComfyUI directly.
 *
 * @param {Service & { url: string, count: number }} input
 */
export async function addedMs({ url, count, ...service }) {
  const direct = await promptLatencyMs({ url, count });
  return (await jobLatencyMs({ ...service, count })) - direct;
}

/** From the first submission until a poll says that the last job has ended. @param {Service & { count: number }} input */
export async function polledJobsPerSecond({ count, ...service }) {
  const client = clientOf(service);
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: count }, () => client.run()));
  return count / ((performance.now() - startedAt) / 1_000);
}

/** Of a job that has ended. @param {Service & { seconds: number }} input */
export async function pollsPerSecond({ seconds, ...service }) {
  const client = clientOf(service);
  const id = await client.run();
  return rateOf(seconds, () => client.poll(id));
}

/** @param {Service} service */
function clientOf({ publicUrl, apiKey: key }) {
  const send = openClient(publicUrl, CONCURRENCY);
  const poll = async (/** @type {string} */ id) => {
    const { status, text } = await send({ method: 'GET', path: `/api/v2/jobs/${id}`, key });
    if (status !== 200) throw new Error(`a poll was refused: ${status} ${text}`);
    return /** @type {{ status: string }} */ (parseJson(text)).status;
  };
  const submit = async () => {
    const body = JSON.stringify({ workflow: light() });
    const { status, text } = await send({ method: 'POST', path: '/api/v2/jobs', key, body });
    if (status !== 201) throw new Error(`a submission was refused: ${status} ${text}`);
    return /** @type {{ id: string }} */ (parseJson(text)).id;
  };
  const run = async () => {
    const id = await submit();
    while (!TERMINAL.has(await poll(id))) await after(POLL_MS);
    return id;
  };
  return { poll, run };
}
