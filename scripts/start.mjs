import process from 'node:process';
import { Interrupted, runCommand, say } from './lib/command/index.mjs';
import { claimFolder } from './lib/services/index.mjs';
import { setUp } from './lib/setup/index.mjs';
import { assertKnown, choosePorts, introduce, readStartOptions, startStack, untilEnded } from './lib/stack/index.mjs';

/** @param {import('./lib/command/scope.mjs').Scope} scope */
async function main(scope) {
  const { data, ...options } = readStartOptions();
  // A port or folder that is taken is refused before the minutes of a first set-up, not after.
  const folder = await claimFolder(scope, data);
  const ports = await choosePorts(folder, options, scope);
  await setUp(scope, { ...process.env, ...options.settings });
  const { listSettings } = await import('./lib/chart/index.mjs');
  assertKnown(
    options.settings,
    listSettings().map(({ setting }) => setting.name),
  );
  const run = await startStack(scope, folder, { ...options, ...ports });
  await introduce(run, folder.path);
  if (options.usualPort !== undefined && ports.port !== options.usualPort) {
    say(`The API is on port ${ports.port}, not on ${options.usualPort} as in the docs: export the address above.`);
  }
  say('Ready. Ctrl-C stops everything.');
  const reason = await untilEnded(scope);
  if (!(reason instanceof Interrupted)) throw reason;
}

await runCommand(main);
