import { randomUUID } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import pg from 'pg';
import { built } from '../lib/built.mjs';
import { openClient, submit } from '../lib/http.mjs';

const { ComfyuiSimulator } = built('libs/testing/src/comfyui-simulator/index');

/**
 * @typedef {{ publicUrl: string, apiKey: string, databaseUrl: string, redisUrl: string }} Stack
 * @typedef {{ input: string, output: string, temp: string }} Folders
 */

/** A job that has not come this far by then is lost, and the bench with it. */
const LIMIT_MS = 30_000;
const POLL_MS = 5;
/** Both sides submit at moments that no timer of theirs can follow. */
const PAUSE_MS = 20;
const BODY = JSON.stringify({
  workflow: {
    1: { class_type: 'EmptyImage', inputs: { width: 64, height: 64, batch_size: 1, color: 1 } },
    2: { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'bench' } },
  },
});

/** @type {Stack} */
let stack;
/** @type {import('../lib/http.mjs').Send} */
let send;
/** @type {Awaited<ReturnType<typeof ComfyuiSimulator.start>>} */
let engine;
/** @type {pg.Pool} */
let database;
/** @type {Queue} */
let queue;
/** Called when the bare worker has a job. */
let onStarted = () => {};

/**
 * Be the engine: a simulated ComfyUI in this process.
 *
 * @param {{ folders: Folders }} input
 * @returns {Promise<string>} its address
 */
export async function startEngine({ folders }) {
  engine = await ComfyuiSimulator.start({ folders });
  return engine.url;
}

/** @param {Stack} input */
export async function prepare(input) {
  stack = input;
  send = openClient(stack.publicUrl, 1);
  database = new pg.Pool({ connectionString: stack.databaseUrl, max: 1 });
  // The engine outlives the stack, whose servers then close these connections.
  database.on('error', () => undefined);
  const connection = { url: stack.redisUrl, maxRetriesPerRequest: null };
  queue = new Queue('bench-bare', { connection, defaultJobOptions: { removeOnComplete: true } });
  queue.on('error', () => undefined);
  const worker = new Worker(queue.name, async () => onStarted(), { connection });
  worker.on('error', () => undefined);
  await worker.waitUntilReady();
}

/**
 * @param {{ jobs: number }} input
 * @returns {Promise<number[]>} milliseconds of each from the answer to the engine
 */
export function entriesMs({ jobs }) {
  return oneByOne(jobs, async () => {
    const { server } = engine;
    server.posted.length = 0;
    const entered = server.whenPosted().then(() => performance.now());
    const job = await submit(send, stack.apiKey, BODY);
    const acceptedAt = performance.now();
    const waitedMs = (await within(entered)) - acceptedAt;
    await untilSucceeded(job);
    return waitedMs;
  });
}

/**
 * From the call of `add`, not from its answer: the command that answers it wakes the worker, too, so that a job may start
 * before its producer has read that it was added.
 *
 * @param {{ jobs: number }} input
 * @returns {Promise<number[]>} milliseconds of each from `add` to the processor
 */
export function bareStartsMs({ jobs }) {
  return oneByOne(jobs, async () => {
    const started = new Promise((/** @type {(at: number) => void} */ resolve) => {
      onStarted = () => resolve(performance.now());
    });
    const addedAt = performance.now();
    await queue.add('attempt', { jobId: randomUUID(), attempt: 1 });
    return (await within(started)) - addedAt;
  });
}

/**
 * @param {number} count
 * @param {() => Promise<number>} measure
 * @returns {Promise<number[]>}
 */
async function oneByOne(count, measure) {
  const times = [];
  while (times.length < count) {
    await pause(PAUSE_MS * (1 + Math.random()));
    times.push(await measure());
  }
  return times;
}

/** Until its worker is free again. @param {string} id */
async function untilSucceeded(id) {
  const until = performance.now() + LIMIT_MS;
  for (;;) {
    /** @type {import('pg').QueryResult<{ status: string, completed_at: Date | null }>} */
    const { rows } = await database.query({
      name: 'status',
      text: 'SELECT status, completed_at FROM jobs WHERE id = $1',
      values: [id],
    });
    if (rows[0]?.status === 'succeeded') return;
    if (rows[0]?.completed_at || performance.now() > until) {
      throw new Error(`job ${id} has not succeeded: it is ${rows[0]?.status}`);
    }
    await pause(POLL_MS);
  }
}

/**
 * @template T
 * @param {Promise<T>} event
 * @returns {Promise<T>}
 */
async function within(event) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((/** @type {(value: never) => void} */ _resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing started within ${LIMIT_MS} ms`)), LIMIT_MS);
  });
  return Promise.race([event, late]).finally(() => clearTimeout(timer));
}

/** @param {number} ms @returns {Promise<void>} */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
