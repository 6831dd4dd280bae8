import { parentPort, workerData } from 'node:worker_threads';
import { CODEC_VERSION } from '../image/codec/vips';
import { ResultCache } from '../run/result-cache';
import { runWorkflow } from '../run/run';
import type { RunRequest, ThreadMessage, ThreadSettings } from './messages';

// The compute thread: node code runs here, so that its process can be asked to stop meanwhile.

if (!parentPort) throw new Error('thread-entry is the start of a worker thread, not of a process.');
const port = parentPort;
const { interrupt, runBudgetBytes, cacheBytes } = workerData as ThreadSettings;
const flag = new Int32Array(interrupt);
const cache = new ResultCache(cacheBytes);
const send = (message: ThreadMessage): void => port.postMessage(message);

port.on('message', ({ work }: RunRequest) => {
  void runWorkflow(work, {
    cache,
    budgetBytes: runBudgetBytes,
    emit: (event) => send({ type: 'event', event }),
    isInterrupted: () => Atomics.load(flag, 0) !== 0,
  }).then((result) => send({ type: 'settled', result }));
});

send({ type: 'ready', version: CODEC_VERSION });
