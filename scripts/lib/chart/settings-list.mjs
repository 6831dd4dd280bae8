import { loadBuilt } from '../system/index.mjs';

/** @typedef {import('@millrace/platform').Setting} Setting */

/** Processes that share one declaration of a setting. @typedef {{ setting: Setting, processes: string[] }} SettingUse */

/**
 * A setting by its name, as the first process that reads it declares it, and every use of it.
 *
 * @typedef {SettingUse & { uses: SettingUse[] }} ListedSetting
 */

export const PROCESSES = /** @type {const} */ (['api', 'worker', 'maintenance', 'fleet', 'gateway']);

/**
 * Every setting of every process, from the build, in alphabetical order.
 *
 * @returns {ListedSetting[]}
 */
export function listSettings() {
  /** @type {Map<string, ListedSetting>} */
  const byName = new Map();
  for (const role of PROCESSES) {
    for (const setting of settingsOf(role)) {
      const listed = byName.get(setting.name) ?? { setting, processes: [], uses: [] };
      const use = listed.uses.find((known) => known.setting === setting);
      if (use === undefined) listed.uses.push({ setting, processes: [role] });
      else use.processes.push(role);
      listed.processes.push(role);
      byName.set(setting.name, listed);
    }
  }
  // A worker reads these where it joins its pool through a gateway, in place of those of what it reaches itself.
  const remote = /** @type {Record<string, Record<string, Setting>>} */ (loadBuilt('apps/worker/src/remote.config'));
  for (const setting of Object.values(remote.remoteSettings ?? {})) {
    const use = { setting, processes: ['worker outside'] };
    byName.set(setting.name, { ...use, uses: [use] });
  }
  return [...byName.values()].sort((a, b) => a.setting.name.localeCompare(b.setting.name));
}

/**
 * @param {typeof PROCESSES[number]} role
 * @returns {Setting[]}
 */
function settingsOf(role) {
  const config = /** @type {Record<string, Record<string, Setting>>} */ (loadBuilt(`apps/${role}/src/${role}.config`));
  return Object.values(config[`${role}Settings`] ?? {});
}
