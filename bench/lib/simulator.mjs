import { join } from 'node:path';
import process from 'node:process';
import { Failure } from '../../scripts/lib/command/index.mjs';
import { Fleet, answers } from '../../scripts/lib/services/index.mjs';
import { DIST, freePort } from '../../scripts/lib/system/index.mjs';

/** @typedef {import('./bench.js').BenchContext} BenchContext */

/**
 * A ComfyUI for a bench: the one that the command names, or the simulator, as a process of its own that speaks its protocol.
 *
 * @param {BenchContext} context
 * @returns {Promise<string>} its URL
 * @throws {Failure} when the one that is named lacks the test nodes
 */
export async function comfyuiFor(context) {
  const url = context.flags.url ?? (await startSimulator(context));
  const answer = await fetch(`${url}/object_info`).catch(() => null);
  if (answer?.ok && (await answer.text()).includes('TestSleep')) return url;
  throw new Failure(
    `ComfyUI at ${url} does not answer or lacks the test nodes: put libs/testing/src/comfyui-simulator/test-nodes into its custom_nodes.`,
  );
}

/** @param {BenchContext} context */
async function startSimulator({ scope, folder }) {
  const port = await freePort();
  const program = join(DIST, 'libs', 'testing', 'src', 'comfyui-simulator', 'main.js');
  const folders = ['input', 'output', 'temp'].flatMap((name) => [`--${name}-directory`, folder.at('comfyui', name)]);
  await new Fleet(scope, folder).start([
    {
      role: 'comfyui',
      name: 'comfyui',
      commandLine: [process.execPath, program, '--port', String(port), ...folders],
      options: {},
      logFile: folder.log('comfyui'),
      isReady: () => answers(`http://127.0.0.1:${port}/prompt`),
      stopSteps: [{ signal: 'SIGKILL', waitMs: 3_000 }],
    },
  ]);
  return `http://127.0.0.1:${port}`;
}
