// A stack on a temporary folder for another command: started by `background.mjs`, which sends it messages over its channel.
// It stops when that command does, unless it was asked to stay.
import process from 'node:process';
import { Failure, Interrupted, runCommand, sentenceOf } from '../command/index.mjs';
import { temporaryFolder } from '../services/index.mjs';
import { startStack, choosePorts, untilEnded } from './stack.mjs';
import { WITH_FLEET } from './with-fleet.mjs';

/**
 * @typedef {{ event: 'ready', run: import('./stack.mjs').RunFile, folder: string }
 *   | { event: 'failed', sentence: string, exitCode: number }} Report
 */

/** @param {import('../command/scope.mjs').Scope} scope */
async function main(scope) {
  let staying = false;
  const fleetAfter = new Promise((/** @type {(value: void) => void} */ resolve) => {
    if (process.argv.includes(WITH_FLEET)) resolve();
    process.on('message', () => {
      staying = true;
      process.disconnect();
      resolve();
    });
  });
  process.on('disconnect', () => (staying ? undefined : scope.end(new Interrupted('SIGHUP'))));
  try {
    const folder = await temporaryFolder(scope, 'demo');
    const ports = await choosePorts(folder, { port: 0, opsPort: 0 });
    const options = /** @type {const} */ ({ surface: 'cloud', workers: 1, settings: {}, throwaway: true, fleetAfter });
    const run = await startStack(scope, folder, { ...ports, ...options });
    report({ event: 'ready', run, folder: folder.path });
  } catch (error) {
    report({ event: 'failed', sentence: sentenceOf(error), exitCode: error instanceof Failure ? error.exitCode : 1 });
    throw error;
  }
  const reason = await untilEnded(scope);
  if (!(reason instanceof Interrupted)) throw reason;
}

/** @param {Report} message */
function report(message) {
  if (process.connected) process.send?.(message);
}

await runCommand(main);
