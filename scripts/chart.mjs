import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { Failure, readFlags, runCommand, say } from './lib/command/index.mjs';
import { setUp } from './lib/setup/index.mjs';
import { ROOT, writeWhole } from './lib/system/index.mjs';

const HELP = `Compares what is made from the processes' settings and from the chart's values.yaml with what they say: docs/settings.md,
and values.schema.json, files/settings.yaml and the table of README.md in helm/millrace.

  --write   write them instead of comparing`;

/** @param {import('./lib/command/scope.mjs').Scope} scope */
async function main(scope) {
  const flags = readFlags(HELP, { write: { type: 'boolean' } });
  await setUp(scope);
  // Both need packages, which a fresh clone has only now.
  const [{ format, resolveConfig }, { chartFiles, settingsPage }] = await Promise.all([
    import('prettier'),
    import('./lib/chart/index.mjs'),
  ]);
  const stale = [];
  for (const { path, text } of [settingsPage(), ...chartFiles()]) {
    const wanted = await format(text, { ...(await resolveConfig(path)), filepath: path });
    if (existsSync(path) && readFileSync(path, 'utf8') === wanted) continue;
    if (flags.write) writeWhole(path, wanted);
    else stale.push(relative(ROOT, path));
  }
  if (stale.length > 0) {
    throw new Failure(
      `Not what the settings and values.yaml say: ${stale.join(', ')}; run node scripts/chart.mjs --write.`,
    );
  }
  say(flags.write ? 'Settings and chart are written.' : 'The pages of the settings and the chart agree with the code.');
}

await runCommand(main);
