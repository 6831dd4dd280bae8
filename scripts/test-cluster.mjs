import { readFlags, runCommand, say } from './lib/command/index.mjs';
import {
  assertMachine,
  beginFigures,
  buildImages,
  buildPrograms,
  endFigures,
  runInside,
} from './lib/cluster/index.mjs';
import { seedFolder } from './lib/postgres/index.mjs';
import { s3Program } from './lib/servers/index.mjs';
import { setUp } from './lib/setup/index.mjs';
import { helmProgram, prometheusProgram, redisExporterProgram } from './lib/testing/index.mjs';

const HELP = `npm run test:cluster [-- flags]    install the chart into a real Kubernetes on this machine, use it, and take it away again

  --api-server   only etcd, the API server and its controllers: the conformance suite of the fleet's Kubernetes adapter, and the
                 chart's objects as the API server judges them
  --installation only the chart on a node: without what --api-server and --alerts do
  --alerts       only the chart on a node, and its alerts: the cause of each is brought about (20 minutes)
  --cause TEXT   of --alerts only the causes that have this text in what they are
  --build        only build what is needed, once: the programs of Kubernetes from Go modules (40 minutes of one processor), the
                 base image, the images; kept in .millrace/tools/cluster
  --install      install what is missing of Debian's packages

Needs Linux on x64, root, Go, and Debian's packages; says what is missing. Everything runs in namespaces of its own for processes,
mounts and the network, and ends with them: nothing is left on the machine but what was built. What is simulated by API objects
alone, and what is not run at all, is in docs/cluster-test.md.`;

/** @param {import('./lib/command/scope.mjs').Scope} scope */
async function main(scope) {
  const flag = { type: /** @type {const} */ ('boolean') };
  const text = { type: /** @type {const} */ ('string') };
  const known = { 'api-server': flag, installation: flag, alerts: flag, cause: text, build: flag, install: flag };
  const { 'api-server': only, installation, alerts, cause = '', build, install } = readFlags(HELP, known);
  const whole = !only;
  const what = only ? 'api-server' : alerts ? 'alerts' : installation ? 'installation' : 'whole';
  beginFigures(build ? 'build' : what);
  await assertMachine(scope, { whole, install: Boolean(install) });
  await setUp(scope, process.env);
  await helmProgram(scope);
  if (whole) await seedFolder(scope);
  if (whole) await s3Program(scope);
  if (whole && !installation) {
    await prometheusProgram(scope);
    await redisExporterProgram(scope);
  }
  await buildPrograms(scope, whole);
  if (whole) await buildImages(scope);
  if (build) return 0;
  const code = await runInside(scope, [what, ...(cause === '' ? [] : [cause])]);
  endFigures(code === 0);
  say('Not run here: operators of KEDA, Prometheus and the Gateway API (their objects have no schema), GPUs, the');
  say('enforcement of network policies, several nodes. docs/cluster-test.md says what checks them instead.');
  say(code === 0 ? 'All that was run held.' : 'Something did not hold.');
  return code;
}

await runCommand(main);
