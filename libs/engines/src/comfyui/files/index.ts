export { FolderRunFiles } from './folder.run-files';
export { HttpRunFiles } from './http.run-files';
export { UnusableInput, type RunFiles } from './run-files';
export { containedPath, isEscapingPath, isOfRuns, nodeFolder, prefixBase, runFolder, stagedName } from './run-paths';
