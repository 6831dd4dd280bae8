import process from 'node:process';
import { Interrupted, runCommand, say } from './lib/command/index.mjs';
import { answers, claimFolder } from './lib/services/index.mjs';
import { setUp } from './lib/setup/index.mjs';
import { choosePorts, readStartOptions, startStack, untilEnded } from './lib/stack/index.mjs';

/** @param {import('./lib/command/scope.mjs').Scope} scope */
async function main(scope) {
  const { data, ...options } = readStartOptions();
  // What cannot be had is told before the minutes of a first set-up, not after.
  const folder = await claimFolder(scope, data);
  const ports = await choosePorts(folder, options);
  await setUp(scope, { ...process.env, ...options.settings });
  const run = await startStack(scope, folder, { ...options, ...ports });
  await introduce(run, folder.path);
  const reason = await untilEnded(scope);
  if (!(reason instanceof Interrupted)) throw reason;
}

/**
 * Say where it is and how to begin; only addresses that answer are named.
 *
 * @param {import('./lib/stack/stack.mjs').RunFile} run
 * @param {string} data
 */
async function introduce({ publicUrl, opsUrl, apiKey }, data) {
  const pages = [
    ['Console', `${publicUrl}/console`],
    ['Reference', `${publicUrl}/api/v2/reference`],
  ];
  say();
  say(`  API        ${publicUrl}/api/v2`);
  for (const [title = '', url = ''] of pages) if (await answers(url)) say(`  ${title.padEnd(10)} ${url}`);
  say(`  Operators  ${opsUrl}`);
  say(`  API key    ${apiKey || 'none is needed'}`);
  say(`  Data       ${data}`);
  say();
  say(`  curl -s ${apiKey && `-H 'Authorization: Bearer ${apiKey}' `}${publicUrl}/api/v2/jobs`);
  say();
  say('Ready. Ctrl-C stops everything.');
}

await runCommand(main);
