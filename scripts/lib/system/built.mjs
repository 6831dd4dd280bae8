import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DIST } from './paths.mjs';

const load = createRequire(import.meta.url);

/**
 * Load a module of the build. Scripts import no sources: those are TypeScript, and a fresh clone has not compiled them yet.
 *
 * @param {string} path of the source, from the root of the checkout and without its ending: `apps/api/src/api.config`
 * @returns {unknown} the caller names its type
 */
export function loadBuilt(path) {
  return load(join(DIST, `${path}.js`));
}
