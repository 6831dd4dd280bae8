export { ConsoleFiles } from './console-files';
export { CONSOLE_PATH, ConsolePages } from './console-pages';
