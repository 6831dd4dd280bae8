export { openWorkDir } from './work-dir';
export { WorkFolder } from './work-folder';
