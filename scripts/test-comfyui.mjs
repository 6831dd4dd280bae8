import { join } from 'node:path';
import process from 'node:process';
import { Failure, misuse, readFlags, runCommand } from './lib/command/index.mjs';
import { setUp } from './lib/setup/index.mjs';
import { MODULES, ROOT, runTool } from './lib/system/index.mjs';

const HELP = `npm run test:comfyui -- --url URL | --dir DIR    the suites of the ComfyUI engine against a real ComfyUI

  --url URL          one that runs, and serves nobody else
  --dir DIR          folder of one to be started, killed and left hanging
  --python PATH      with --dir: the Python that runs it
  --arguments TEXT   with --dir: more arguments of its command line, e.g. --arguments="--cpu"
  --gpu              with --dir: what only a GPU shows, too; 5 GB of disk for models made for it

Either has libs/testing/src/comfyui-simulator/test-nodes as a folder of its custom_nodes; one that runs was started with
--disable-metadata, --log-stdout and a preview method.`;

/** @param {import('./lib/command/scope.mjs').Scope} scope */
async function main(scope) {
  const text = { type: /** @type {const} */ ('string') };
  const {
    url,
    dir,
    python,
    arguments: more,
    gpu,
  } = readFlags(HELP, { url: text, dir: text, python: text, arguments: text, gpu: { type: 'boolean' } });
  if (!url && !dir) throw misuse('say which ComfyUI to test, with --url or --dir');
  if (gpu && !dir) throw misuse('--gpu needs --dir: what breaks on the GPU has to be started again');
  if (url) await assertTestNodes(url);
  await setUp(scope);
  const jest = join(MODULES, 'jest', 'bin', 'jest.js');
  const { code } = await runTool(scope, process.execPath, [jest, '--testMatch', '**/comfyui.live.ts', '--runInBand'], {
    cwd: ROOT,
    env: {
      ...process.env,
      ...(url && { MILLRACE_COMFYUI_URL: url }),
      ...(dir && { MILLRACE_COMFYUI_DIR: dir }),
      ...(python && { MILLRACE_COMFYUI_PYTHON: python }),
      ...(gpu && { MILLRACE_COMFYUI_GPU: '1' }),
      ...(more && { MILLRACE_COMFYUI_ARGUMENTS: more }),
    },
    show: true,
  });
  return code ?? 1;
}

/** @param {string} url */
async function assertTestNodes(url) {
  const answer = await fetch(`${url}/object_info/TestSteps`).catch(() => null);
  if (answer?.ok && (await answer.text()).includes('TestSteps')) return;
  throw new Failure(
    answer
      ? `ComfyUI at ${url} lacks the test nodes: put libs/testing/src/comfyui-simulator/test-nodes into its custom_nodes.`
      : `ComfyUI at ${url} does not answer: start it first.`,
  );
}

await runCommand(main);
