import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DIST } from '../system/index.mjs';

/** @typedef {import('@millrace/platform').Setting} Setting */

/**
 * A setting as the pages tell it.
 *
 * @typedef {{ setting: Setting, processes: string[] }} ListedSetting
 */

export const PROCESSES = /** @type {const} */ (['api', 'worker', 'maintenance']);

/**
 * Every setting of every process, from the build, in the order of the alphabet.
 *
 * @returns {ListedSetting[]}
 */
export function listSettings() {
  /** @type {Map<string, ListedSetting>} */
  const byName = new Map();
  for (const role of PROCESSES) {
    for (const setting of settingsOf(role)) {
      const listed = byName.get(setting.name) ?? { setting, processes: [] };
      listed.processes.push(role);
      byName.set(setting.name, listed);
    }
  }
  return [...byName.values()].sort((a, b) => a.setting.name.localeCompare(b.setting.name));
}

/**
 * @param {typeof PROCESSES[number]} role
 * @returns {Setting[]}
 */
function settingsOf(role) {
  const load = createRequire(import.meta.url);
  const module = load(join(DIST, 'apps', role, 'src', `${role}.config.js`));
  return Object.values(module[`${role}Settings`]);
}
