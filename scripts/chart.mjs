import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { chartFiles } from './lib/chart-files.mjs';
import { runCommand } from './lib/command.mjs';
import { Failure } from './lib/failure.mjs';
import { writeWhole } from './lib/files.mjs';
import { readFlags } from './lib/flags.mjs';
import { ROOT } from './lib/paths.mjs';
import { settingsPage } from './lib/settings-page.mjs';
import { setUp } from './lib/setup.mjs';
import { say } from './lib/terminal.mjs';

const HELP = `Compares what is made from the processes' settings and from the chart's values.yaml with what they say: docs/settings.md,
and values.schema.json, files/settings.yaml and the table of README.md in helm/millrace.

  --write   write them anew instead of comparing`;

/** @param {import('./lib/scope.mjs').Scope} scope */
async function main(scope) {
  const flags = readFlags(HELP, { write: { type: 'boolean' } });
  await setUp(scope);
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
