import { join } from 'node:path';
import { ROOT } from '../system/index.mjs';
import { listSettings } from './settings-list.mjs';

/** @typedef {import('./settings-list.mjs').ListedSetting} ListedSetting */

const INTRODUCTION = `# Settings

Made from the settings of the processes (\`apps/*/src/*.config.ts\`); change them there and run \`node scripts/chart.mjs --write\`.

Every process reads all its settings from its environment before anything starts. One that is missing or wrong stops it with
a sentence on standard error; an empty one counts as unset. Secret ones are never printed.
`;

/** docs/settings.md. */
export function settingsPage() {
  const sections = listSettings().map(({ setting, processes }) =>
    [`## \`${setting.name}\``, setting.description, factsOf(setting, processes)].join('\n\n'),
  );
  return { path: join(ROOT, 'docs', 'settings.md'), text: `${[INTRODUCTION.trimEnd(), ...sections].join('\n\n')}\n` };
}

/**
 * @param {ListedSetting['setting']} setting
 * @param {string[]} processes
 */
function factsOf(setting, processes) {
  const facts = [fallbackOf(setting), `Read by ${processes.join(', ')}.`];
  if (setting.secret) facts.push('Secret.');
  return facts.join(' ');
}

/** @param {ListedSetting['setting']} setting */
function fallbackOf({ name, schema }) {
  const unset = schema.safeParse(undefined);
  if (!unset.success) return 'Required.';
  if (unset.data === undefined) return 'Unset by default.';
  // Holds the process's id: another one in each process.
  if (name === 'MILLRACE_WORK_DIR') return 'Default: a folder of the process in the temporary folder.';
  return `Default: \`${String(unset.data)}\`.`;
}
