import { request } from 'node:http';
import process from 'node:process';
import { setTimeout as after } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { built } from '../lib/built.mjs';
import { quantile } from '../lib/pairs.mjs';
import { makeRunningJobs } from '../lib/running-jobs.mjs';
import { StreamClients, firstFrameOf } from '../lib/stream-clients.mjs';

const { LivePublisher } = built('libs/messaging/src/index');

/**
 * @typedef {import('../lib/stream-clients.mjs').StreamAddress} StreamAddress
 * @typedef {import('../lib/running-jobs.mjs').RunningJob} RunningJob
 * @typedef {'ours' | 'floor'} Side
 */

/** A stream sends progress at most this often. */
const THROTTLE_MS = 300;
const SLICES_PER_SECOND = 100;

const clients = { ours: new StreamClients(), floor: new StreamClients() };
/** @type {RunningJob[]} */
let jobs = [];
/** @type {InstanceType<typeof LivePublisher>} */
let publisher;
let ourPort = 0;
let floorPort = 0;
let streamsPerJob = 1;
let nth = 0;

/**
 * Make the jobs that are streamed, and see how a stream of one begins.
 *
 * @param {import('../lib/accounts.mjs').Stack & { redisUrl: string, count: number }} input
 * @returns {Promise<{ pid: number, firstFrame: string }>}
 */
export async function prepare({ count, ...stack }) {
  jobs = await makeRunningJobs(stack, count);
  ourPort = Number(new URL(stack.publicUrl).port);
  publisher = new LivePublisher(new Redis(stack.redisUrl));
  return { pid: process.pid, firstFrame: await firstFrameOf(addressOf('ours', 0)) };
}

/** @param {{ port: number }} input */
export function useFloor({ port }) {
  floorPort = port;
}

/**
 * @param {Side} side
 * @param {number} stream
 * @returns {StreamAddress}
 */
function addressOf(side, stream) {
  const { id, key } = jobs[Math.floor(stream / streamsPerJob)] ?? { id: '', key: '' };
  if (side === 'ours') return { port: ourPort, path: `/api/v2/jobs/${id}/events`, key };
  return { port: floorPort, path: `/api/v2/jobs/${id}/events?stream=${stream}`, key };
}

/** @param {{ side: Side, streams: number, perJob: number }} input */
export async function open({ side, streams, perJob }) {
  streamsPerJob = perJob;
  await clients[side].open(Array.from({ length: streams }, (_, stream) => addressOf(side, stream)));
}

/** @param {{ side: Side }} input */
export function close({ side }) {
  clients[side].close();
}

/**
 * One event to every stream, several times over.
 *
 * @param {{ side: Side, waves: number }} input
 * @returns {Promise<number>} events delivered per second, from the publication of a wave until its last event is received
 */
export async function deliveriesPerSecond({ side, waves }) {
  const { count } = clients[side];
  let tookMs = 0;
  for (let wave = 0; wave < waves; wave += 1) {
    await after(THROTTLE_MS + 100);
    const startedAt = performance.now();
    const received = clients[side].received(count);
    publish(side, 0, count);
    await received;
    tookMs += performance.now() - startedAt;
  }
  return (waves * count) / (tookMs / 1_000);
}

/**
 * An event a second to every stream, spread evenly over the second.
 *
 * @param {{ side: Side, seconds: number }} input
 * @returns {Promise<number>} milliseconds from publication to receipt, 99th percentile
 */
export async function deliveryMs({ side, seconds }) {
  const { count } = clients[side];
  const slice = Math.ceil(count / SLICES_PER_SECOND);
  await after(THROTTLE_MS);
  const received = clients[side].received(seconds * count);
  const startedAt = performance.now();
  for (let second = 0; second < seconds; second += 1) {
    for (let from = 0; from < count; from += slice) {
      await after(startedAt + 1_000 * (second + from / count) - performance.now());
      publish(side, from, Math.min(count, from + slice));
    }
  }
  return quantile(await received, 0.99);
}

/**
 * Publish one event to streams `from` to `to`: as a worker does, or by a request to the floor.
 *
 * @param {Side} side
 * @param {number} from
 * @param {number} to
 */
function publish(side, from, to) {
  const progress = nextProgress();
  clients[side].notePublished(from, to, progress.value);
  if (side === 'floor') {
    const frame = `event: progress\ndata: ${JSON.stringify(progress)}\n\n`;
    request({ port: floorPort, host: '127.0.0.1', method: 'POST', path: `/write?from=${from}&to=${to}` }).end(frame);
    return;
  }
  for (const { id } of jobs.slice(from / streamsPerJob, to / streamsPerJob)) {
    void publisher.publish(id, { kind: 'progress', attempt: 1, progress });
  }
}

/** Progress as a sampler reports it, one step further each time. */
function nextProgress() {
  nth += 1;
  return {
    value: nth / 1_000_000,
    nodes_done: 3,
    nodes_total: 20,
    current_node: '7',
    current_node_class: 'KSampler',
    step: nth % 30,
    steps: 30,
  };
}
