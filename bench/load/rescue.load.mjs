import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Queue, Worker } from 'bullmq';
import { Scope, pause } from '../../scripts/lib/command/index.mjs';
import { measureRescues } from '../../scripts/lib/testing/index.mjs';

const VICTIM = fileURLToPath(new URL('../lib/bare-worker.mjs', import.meta.url));
/** Of BullMQ, by default: a worker looks for stalled jobs once in the one, and renews its locks once in the other. */
const STALLED_EVERY_MS = 30_000;
const RENEWED_EVERY_MS = 15_000;
const LIMIT_MS = 180_000;

/** @param {{ stack: import('../../scripts/lib/testing/rescue.mjs').Stack, deaths: number }} input */
export function rescuesMs({ stack, deaths }) {
  return measureRescues(new Scope(), stack, deaths);
}

/**
 * Kill a process in which BullMQ workers with default options run a job each, and see when other workers, here, start the
 * same jobs. Each job has a queue of its own, so that the timers of the workers are as independent as those of machines: the
 * moment of the kill is anywhere between two renewals of a lock, and between two looks for stalled jobs.
 *
 * @param {{ redisUrl: string, deaths: number }} input
 * @returns {Promise<number[]>} milliseconds of each from SIGKILL to the processor
 */
export async function recoveriesMs({ redisUrl, deaths }) {
  const connection = { url: redisUrl, maxRetriesPerRequest: null };
  const names = Array.from({ length: deaths }, () => `bench-stalled-${randomUUID()}`);
  const queues = names.map((name) => new Queue(name, { connection }));
  const victim = fork(VICTIM, [redisUrl, ...names], { stdio: 'inherit' });
  /** @type {Worker[]} */
  const others = [];
  try {
    const running = allStarted(victim, names);
    await Promise.all(queues.map((queue) => queue.add('attempt', { jobId: randomUUID(), attempt: 1 })));
    await running;
    const recovered = names.map(async (name) => {
      await pause(Math.random() * RENEWED_EVERY_MS);
      return new Promise((/** @type {(at: number) => void} */ resolve) => {
        const other = new Worker(name, async () => resolve(performance.now()), { connection });
        other.on('error', () => undefined);
        others.push(other);
      });
    });
    await pause(RENEWED_EVERY_MS + Math.random() * STALLED_EVERY_MS);
    const killedAt = performance.now();
    victim.kill('SIGKILL');
    return (await within(Promise.all(recovered))).map((at) => at - killedAt);
  } finally {
    victim.kill('SIGKILL');
    await Promise.all([...others, ...queues].map((one) => one.close()));
  }
}

/**
 * @param {import('node:child_process').ChildProcess} victim
 * @param {string[]} names of the queues whose jobs must run
 * @returns {Promise<void>}
 */
function allStarted(victim, names) {
  const waiting = new Set(names);
  return new Promise((resolve, reject) => {
    victim.once('exit', () => reject(new Error('the process of the BullMQ workers ended before their jobs ran')));
    victim.on('message', (name) => {
      waiting.delete(/** @type {string} */ (name));
      if (waiting.size === 0) resolve();
    });
  });
}

/**
 * @template T
 * @param {Promise<T>} event
 * @returns {Promise<T>}
 */
async function within(event) {
  const given = new AbortController();
  const late = pause(LIMIT_MS, given.signal).then(() => {
    throw new Error(`BullMQ has not started a stalled job again within ${LIMIT_MS} ms`);
  });
  late.catch(() => undefined);
  return Promise.race([event, late]).finally(() => given.abort());
}
