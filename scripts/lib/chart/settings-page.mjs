import { join } from 'node:path';
import { ROOT } from '../system/index.mjs';
import { listSettings } from './settings-list.mjs';

/** @typedef {import('./settings-list.mjs').SettingUse} SettingUse */

const INTRODUCTION = `# Settings

Generated from the settings of the processes (\`apps/*/src/*.config.ts\`, and the \`*.settings.ts\` of the libs). Change them there
and run \`node scripts/chart.mjs --write\`.

Every process reads all its settings from its environment before it starts anything. When one is missing or wrong, it ends with
a sentence on standard error. An empty setting counts as unset. Secrets are never printed.
`;

/** docs/settings.md. */
export function settingsPage() {
  const sections = listSettings().map(({ setting, uses }) =>
    [`## \`${setting.name}\``, ...uses.flatMap((use) => [use.setting.description, factsOf(use)])].join('\n\n'),
  );
  return { path: join(ROOT, 'docs', 'settings.md'), text: `${[INTRODUCTION.trimEnd(), ...sections].join('\n\n')}\n` };
}

/** @param {SettingUse} use */
function factsOf({ setting, processes }) {
  const facts = [fallbackOf(setting), `Read by ${processes.join(', ')}.`];
  if (setting.secret) facts.push('Secret.');
  return facts.join(' ');
}

/** @param {SettingUse['setting']} setting */
function fallbackOf({ schema }) {
  const unset = schema.safeParse(undefined);
  if (!unset.success) return 'Required.';
  if (unset.data === undefined) return 'Unset by default.';
  return `Default: \`${String(unset.data)}\`.`;
}
