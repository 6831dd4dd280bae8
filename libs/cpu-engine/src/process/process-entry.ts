import { extname, join } from 'node:path';
import process from 'node:process';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { ComputeSettings, ProcessMessage, ProcessRequest, ThreadMessage, ThreadSettings } from './messages';

/*
 * A compute process: it has no credentials, and what its graph does to it ends it alone. Nodes are computed in a thread of it, so
 * that this one is free to pass an interrupt on and to watch the memory.
 */

const WATCH_EVERY_MS = 25;
const MIB = 1024 * 1024;

const flag = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
let thread: Worker | undefined;
let residentBytes = Number.POSITIVE_INFINITY;
let watch: NodeJS.Timeout | undefined;

process.on('message', (message: ProcessRequest) => {
  if (message.type === 'start') {
    ({ residentBytes } = message.settings);
    thread = startThread(message.settings);
  } else if (message.type === 'interrupt') Atomics.store(flag, 0, 1);
  else {
    Atomics.store(flag, 0, 0);
    watchMemory();
    thread?.postMessage({ work: message.work });
  }
});
// The engine has gone: nobody waits for a result. A signal to the whole group of processes is the engine's to act on.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);

function startThread({ heapMib, ...settings }: ComputeSettings): Worker {
  const workerData = { ...settings, interrupt: flag.buffer } satisfies ThreadSettings;
  const started = newThread({ workerData });
  started.on('message', (message: ThreadMessage) => {
    if (message.type === 'settled') clearInterval(watch);
    send(message);
  });
  started.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') exhausted(`more than ${heapMib} MiB of values`);
    else throw error;
  });
  return started;
}

/** As long as a run is under way: nothing takes memory between runs, and looking costs an idle machine its processor. */
function watchMemory(): void {
  clearInterval(watch);
  watch = setInterval(() => {
    if (process.memoryUsage.rss() > residentBytes)
      exhausted(`more than ${Math.round(residentBytes / MIB)} MiB of memory`);
  }, WATCH_EVERY_MS);
}

function exhausted(reason: string): void {
  send({ type: 'exhausted', reason }, () => process.kill(process.pid, 'SIGKILL'));
}

function send(message: ProcessMessage, sent?: () => void): void {
  process.send?.(message, undefined, {}, () => sent?.());
}

/** From TypeScript source, that is under jest, the process was started with what compiles source, and so is its thread. */
function newThread(options: WorkerOptions): Worker {
  const entry = join(__dirname, `thread-entry${extname(__filename)}`);
  if (extname(__filename) === '.js') return new Worker(entry, options);
  return new Worker(`require(${JSON.stringify(entry)});`, { ...options, eval: true });
}
