import { join } from 'node:path';
import process from 'node:process';
import { say } from '../command/index.mjs';
import { MODULES, ROOT, runTool } from '../system/index.mjs';
import { noteStep } from './figures.mjs';

/**
 * The conformance suite of the fleet's Kubernetes adapter against the real API server and its controllers. Nodes and the end of pods
 * are API objects that the suite's own node writes: no kubelet runs.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {import('./control-plane.mjs').ControlPlane} plane
 * @returns {Promise<number>} the exit code
 */
export async function conform(scope, { url, token, caFile }) {
  say(
    '  Conformance of the Kubernetes adapter, on the real API server; its pods are run by a stand-in of the kubelet:',
  );
  const jest = join(MODULES, 'jest', 'bin', 'jest.js');
  const suite = ['--testMatch', '**/kubernetes.fleet.live.ts', '--runInBand'];
  const begin = performance.now();
  const { code } = await runTool(scope, process.execPath, [jest, ...suite], {
    cwd: ROOT,
    env: { ...process.env, MILLRACE_CLUSTER_URL: url, MILLRACE_CLUSTER_TOKEN: token, MILLRACE_CLUSTER_CA: caFile },
    show: true,
  });
  noteStep('conformance of the Kubernetes adapter', performance.now() - begin);
  return code ?? 1;
}
