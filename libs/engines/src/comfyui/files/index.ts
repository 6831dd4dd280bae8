export { FolderRunFiles } from './folder.run-files';
export { HttpRunFiles } from './http.run-files';
export { InputUnavailable, type RunFiles } from './run-files';
export { containedPath, isEscapingPath, nodeFolder, prefixBase, runFolder, RUNS_FOLDER, stagedName } from './run-paths';
