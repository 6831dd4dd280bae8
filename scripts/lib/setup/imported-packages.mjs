import { isBuiltin } from 'node:module';

const STATIC = /^(?:import|export)\s(?!type\s)[^;]*?from '([^'.][^']*)'|^import '([^'.][^']*)'/gm;
const DYNAMIC = /\bimport\('([^'.][^']*)'\)/g;
/** What the build resolves itself. */
const OWN = /^(@millrace\/|virtual:)/;

/**
 * The packages that sources import, also where they do when they need it (`import('…')`). Types alone need no package.
 *
 * @param {string[]} texts of sources in TypeScript, as Prettier writes them
 * @returns {string[]} names, each once
 */
export function importedPackages(texts) {
  const found = texts.flatMap((text) => [...text.matchAll(STATIC), ...text.matchAll(DYNAMIC)]);
  const modules = found.map(([, from, alone]) => from ?? alone ?? '');
  const names = modules
    .filter((name) => !isBuiltin(name) && !OWN.test(name))
    .map((name) => (name.startsWith('@') ? name.split('/').slice(0, 2) : name.split('/', 1)).join('/'));
  return [...new Set(names)].sort();
}
