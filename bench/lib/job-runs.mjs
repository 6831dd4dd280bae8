import { randomUUID } from 'node:crypto';
import { createParser } from 'eventsource-parser';
import { WebSocket } from 'ws';
import { parseJson } from '../../scripts/lib/system/index.mjs';
import { quantile } from './pairs.mjs';

/** @typedef {{ publicUrl: string, apiKey: string }} Service */
/** @typedef {{ type: string, data?: { prompt_id?: string, exception_message?: string } }} EngineMessage */

/** Jobs before the first that counts: until then the processes spend as much on compiling their code as on running it. */
export const WARM_UP = { count: 1_500, atOnce: 8 };
export const TERMINAL = new Set(['succeeded', 'failed', 'canceled', 'expired']);
export const salt = () => Math.floor(Math.random() * 0xffffff);
export const save = { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'bench' } };

/** The cheapest prompt that saves a picture; never the same twice, so that nothing is cached. */
export const light = () => ({
  1: { class_type: 'EmptyImage', inputs: { width: 64, height: 64, batch_size: 1, color: salt() } },
  2: save,
});

/** @param {{ url: string, count: number }} input */
export async function promptLatencyMs({ url, count }) {
  const session = await openSession(url);
  const times = await oneByOne(count, () => session.run(light()));
  session.close();
  return quantile(times, 0.5);
}

/** @param {Service & { count: number }} input */
export async function jobLatencyMs({ count, ...service }) {
  return quantile(await oneByOne(count, () => runJob(service, light())), 0.5);
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
export async function allAtOnce(count, run) {
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: count }, run));
  return count / ((performance.now() - startedAt) / 1000);
}

/**
 * @param {number} count
 * @param {() => Promise<void>} run
 * @returns {Promise<number[]>} milliseconds of each
 */
async function oneByOne(count, run) {
  const times = [];
  for (let turn = 0; turn < count; turn += 1) {
    const startedAt = performance.now();
    await run();
    times.push(performance.now() - startedAt);
  }
  return times;
}

/**
 * A client of ComfyUI: one socket for all prompts, which are distinguished by their ids.
 *
 * @param {string} url
 */
export async function openSession(url) {
  const clientId = randomUUID();
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws?clientId=${clientId}`, { perMessageDeflate: false });
  /** @type {Map<string, { resolve: () => void, reject: (error: Error) => void }>} */
  const running = new Map();
  await new Promise((resolve, reject) => socket.once('message', resolve).once('error', reject));
  socket.on('message', (data, isBinary) => {
    if (isBinary) return;
    const { type, data: about } = /** @type {EngineMessage} */ (parseJson(textOf(data)));
    const waiting = running.get(about?.prompt_id ?? '');
    if (type === 'execution_success') waiting?.resolve();
    if (type === 'execution_error') waiting?.reject(new Error(about?.exception_message));
  });
  return {
    /** @param {object} prompt */
    async run(prompt) {
      const promptId = randomUUID();
      const ended = new Promise((/** @type {(value: void) => void} */ resolve, reject) => {
        running.set(promptId, { resolve, reject });
      });
      const body = JSON.stringify({ prompt, client_id: clientId, prompt_id: promptId });
      const response = await fetch(`${url}/prompt`, { method: 'POST', body });
      const answer = await response.text();
      if (!response.ok) throw new Error(`ComfyUI refused the prompt: ${answer}`);
      await ended;
      running.delete(promptId);
    },
    close: () => socket.terminate(),
  };
}

/** @param {import('ws').RawData} data of a text message, which arrives as one buffer */
function textOf(data) {
  return Buffer.from(/** @type {Buffer} */ (data)).toString();
}

/**
 * Submit a job and read its stream until it has succeeded.
 *
 * @param {Service} service
 * @param {object} workflow
 */
export async function runJob({ publicUrl, apiKey }, workflow) {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ workflow });
  const created = await fetch(`${publicUrl}/api/v2/jobs`, { method: 'POST', headers, body });
  const job = /** @type {import('@millrace/contracts').Job} */ (await created.json());
  if (created.status !== 201) throw new Error(`The job was refused: ${JSON.stringify(job)}`);
  const status = await terminalStatus(new URL(job.urls.events, publicUrl), headers.authorization);
  if (status !== 'succeeded') throw new Error(`Job ${job.id} has ended as ${status}.`);
}

/**
 * @param {URL} url
 * @param {string} authorization
 * @returns {Promise<string>}
 */
async function terminalStatus(url, authorization) {
  const leaving = new AbortController();
  const response = await fetch(url, { headers: { authorization }, signal: leaving.signal });
  let status = '';
  const parser = createParser({
    onEvent({ event, data }) {
      if (event !== 'status') return;
      const job = /** @type {{ status: string }} */ (parseJson(data));
      if (TERMINAL.has(job.status)) status = job.status;
    },
  });
  const decoder = new TextDecoder();
  for await (const chunk of /** @type {AsyncIterable<Uint8Array>} */ (response.body)) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (status !== '') break;
  }
  leaving.abort();
  return status;
}
