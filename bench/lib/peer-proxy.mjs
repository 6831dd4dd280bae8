import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { Failure, task } from '../../scripts/lib/command/index.mjs';
import { Fleet, answers } from '../../scripts/lib/services/index.mjs';
import { TOOLS, findProgram, freePort, runTool } from '../../scripts/lib/system/index.mjs';

/** @typedef {import('./bench.js').BenchContext} BenchContext */

const VERSION = '0.1.6';
const ENVIRONMENT = join(TOOLS, `comfy-api-proxy-${VERSION}`);
const PROGRAM = join(ENVIRONMENT, 'bin', 'comfy-api-proxy');
export const PEER_TOKEN = 'bench';

/** Why the proxy cannot run here; undefined when it can. */
export function peerUnavailable() {
  return python() === undefined ? 'it needs Python 3.10 or newer (python3), which is not on PATH' : undefined;
}

/**
 * Start comfy-api-proxy, which serves the same contract before one ComfyUI, as it is installed from PyPI and with its defaults:
 * jobs are kept in its memory.
 *
 * @param {BenchContext} context
 * @param {string} comfyuiUrl
 * @returns {Promise<string>} its URL
 */
export async function startPeerProxy(context, comfyuiUrl) {
  await install(context);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  await new Fleet(context.scope, context.folder).start([
    {
      role: 'peer',
      name: 'comfy-api-proxy',
      commandLine: [PROGRAM, 'run', '--comfyui', comfyuiUrl, '--port', String(port), '--token', PEER_TOKEN],
      options: {},
      logFile: context.folder.log('comfy-api-proxy'),
      isReady: () => answers(`${url}/api/v2/health`),
      stopSteps: [
        { signal: 'SIGTERM', waitMs: 2_000 },
        { signal: 'SIGKILL', waitMs: 3_000 },
      ],
    },
  ]);
  return url;
}

/** @param {BenchContext} context */
async function install({ scope }) {
  if (existsSync(PROGRAM)) return;
  await task(scope, `Installing comfy-api-proxy ${VERSION}`, async () => {
    rmSync(ENVIRONMENT, { recursive: true, force: true });
    await run(scope, python() ?? 'python3', ['-m', 'venv', ENVIRONMENT]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `comfy-api-proxy==${VERSION}`];
    await run(scope, join(ENVIRONMENT, 'bin', 'python'), pip);
  });
}

/**
 * @param {import('../../scripts/lib/command/scope.mjs').Scope} scope
 * @param {string} command
 * @param {string[]} args
 */
async function run(scope, command, args) {
  const { code, output } = await runTool(scope, command, args, { env: process.env });
  if (code === 0) return;
  throw new Failure(`comfy-api-proxy cannot be installed: ${command} ${args.join(' ')} ended with ${code}.\n${output}`);
}

const python = () => findProgram(['python3']);
