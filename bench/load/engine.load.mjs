import { allAtOnce, openSession, runJob, salt, save } from '../lib/job-runs.mjs';

export { jobLatencyMs, promptLatencyMs, warmUp } from '../lib/job-runs.mjs';

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
