export { loadBuilt } from './built.mjs';
export {
  digestOf,
  filesUnder,
  makeFolder,
  makeOwnFolder,
  parseJson,
  readJson,
  writeJson,
  writeWhole,
} from './files.mjs';
export { buildGoTool, TOOLS } from './go-tool.mjs';
export { Lock, holderOf, readLock, tryLock } from './lock.mjs';
export { BUNDLES, CONSOLE, DIST, HOME, MODULES, OPS_CONSOLE, ROOT } from './paths.mjs';
export { choosePort, freePort } from './ports.mjs';
export { commandLineOf, endProcess, identify, isRunning, ownPlace, send } from './processes.mjs';
export { findProgram, findSetpriv, isExecutable, runTool, withDeathSignal } from './tools.mjs';
