import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout. */
export const ROOT = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
export const MODULES = join(ROOT, 'node_modules');
export const DIST = join(ROOT, 'dist');
/** What is run: one file for each process, made from what lies in dist beside it. */
export const BUNDLES = join(DIST, 'bin');
/** The console of accounts as it is served. */
export const CONSOLE = join(DIST, 'console');
/** The operators' console as it is served. */
export const OPS_CONSOLE = join(DIST, 'ops-console');
/** Data of `npm start` where no `--data` is given; temporary stacks and the set-up's lock lie in it too. */
export const HOME = join(ROOT, '.millrace');
