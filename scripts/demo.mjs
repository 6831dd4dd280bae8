import { rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import process from 'node:process';
import { Failure, readFlags, runCommand, say, task } from './lib/command/index.mjs';
import { setUp } from './lib/setup/index.mjs';
import { startInBackground, withoutSettings } from './lib/stack/index.mjs';
import { DIST, ROOT, runTool } from './lib/system/index.mjs';

const GRAPH = join('examples', 'portrait-in-coral.json');
const INPUT = `1.image=${join('examples', 'input.png')}`;
const OUTPUT = 'demo-output';
const HELP = `npm run demo [-- --keep]    one job from an uploaded image to the files in demo-output/, on a stack of its own

  --keep   leave the stack up at the end`;

/** @param {import('./lib/command/scope.mjs').Scope} scope */
async function main(scope) {
  const flags = readFlags(HELP, { keep: { type: 'boolean' } });
  await setUp(scope, withoutSettings(process.env));
  const stack = await task(scope, 'Starting a stack', () => startInBackground(scope));
  // The files of one demo only: those of the last one would push the new ones' names aside.
  rmSync(join(ROOT, OUTPUT), { recursive: true, force: true });
  const cli = join(DIST, 'apps', 'cli', 'src', 'main.js');
  const args = [cli, 'run', GRAPH, '--input', INPUT, '--out', OUTPUT];
  say();
  const { code } = await runTool(scope, process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, MILLRACE_URL: stack.run.publicUrl, MILLRACE_API_KEY: stack.run.apiKey },
    show: true,
  });
  if (code !== 0) throw new Failure(`The demo's job did not succeed (exit code ${code}).`);
  if (!flags.keep) return;
  const jobPage = await pageOfLatestJob(stack.run);
  stack.keep();
  say(`The stack stays up: ${stack.run.publicUrl}, described in ${relative(ROOT, join(stack.folder, 'run.json'))}.`);
  say(`Stop it with: kill ${stack.pid}`);
  say(`The job in the console: ${jobPage}`);
}

/**
 * The console's page of the account's latest job, behind the link that signs in.
 *
 * @param {import('./lib/stack/stack.mjs').RunFile} run
 */
async function pageOfLatestJob({ publicUrl, consoleUrl, apiKey }) {
  const headers = { authorization: `Bearer ${apiKey}` };
  const response = await fetch(`${publicUrl}/api/v2/jobs?limit=1`, { headers });
  const { jobs } = /** @type {{ jobs: { id: string }[] }} */ (await response.json());
  const url = new URL(consoleUrl);
  url.pathname += `jobs/${jobs[0]?.id ?? ''}`;
  return url.href;
}

await runCommand(main);
