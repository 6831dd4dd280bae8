import { light, openSession, runJob, salt, save } from '../lib/job-runs.mjs';

export { jobLatencyMs, promptLatencyMs } from '../lib/job-runs.mjs';

/** @typedef {import('../lib/job-runs.mjs').Service} Service */

/** @param {number} seconds */
const lasting = (seconds) => ({ 1: { class_type: 'TestSleep', inputs: { seconds, salt: salt() } }, 2: save });

/** @param {{ url: string, count: number, seconds: number }} input */
export async function promptsPerSecond({ url, count, seconds }) {
  const session = await openSession(url);
  const rate = await allAtOnce(count, () => session.run(lasting(seconds)));
  session.close();
  return rate;
}

/** @param {Service & { count: number, seconds: number }} input */
export function jobsPerSecond({ count, seconds, ...service }) {
  return allAtOnce(count, () => runJob(service, lasting(seconds)));
}

/** @param {Service & { count: number, atOnce: number }} input */
export async function warmUp({ count, atOnce, ...service }) {
  for (let done = 0; done < count; done += atOnce) await allAtOnce(atOnce, () => runJob(service, light()));
}

/**
 * @param {number} count
 * @param {() => Promise<void>} run
 * @returns {Promise<number>} runs per second, from the first request to the last end
 */
async function allAtOnce(count, run) {
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: count }, run));
  return count / ((performance.now() - startedAt) / 1000);
}
