export { ConsoleFiles } from './console-files';
export { CONSOLE_PATH, ConsolePages, OPS_CONSOLE_PATH } from './console-pages';
