import { join } from 'node:path';
import process from 'node:process';
import { duration, readFlags, runCommand, say } from './lib/command/index.mjs';
import { setUp } from './lib/setup/index.mjs';
import { DIST, MODULES, ROOT, runTool } from './lib/system/index.mjs';

/** @typedef {{ name: string, program: string[], env?: NodeJS.ProcessEnv }} Check */

/** About half of what is linted. The linter, the longest of the checks, works on one core: so each of two has a half. */
const LINTED_APART = ['apps', 'test'];

/** The longest first: two run at a time. @type {Check[]} */
const CHECKS = [
  { name: 'lint of apps and tests', program: bin('eslint/bin/eslint.js', ...LINTED_APART) },
  {
    name: 'lint of all else',
    program: bin('eslint/bin/eslint.js', '.', ...LINTED_APART.flatMap((folder) => ['--ignore-pattern', `${folder}/`])),
  },
  { name: 'types', program: bin('tsc-native/bin/tsc', '--pretty', 'false', '-p', 'tsconfig.json') },
  { name: 'types of the console', program: bin('tsc-native/bin/tsc', '--pretty', 'false', '-p', 'apps/console') },
  {
    name: 'types of the docs site',
    program: bin('tsc-native/bin/tsc', '--pretty', 'false', '-p', 'apps/console/docs-site'),
  },
  {
    name: "types of the operators' console",
    program: bin('tsc-native/bin/tsc', '--pretty', 'false', '-p', 'apps/console/ops'),
  },
  { name: 'format', program: bin('prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.') },
  {
    name: 'import law',
    program: bin(
      'dependency-cruiser/bin/dependency-cruise.mjs',
      '--output-type',
      'err',
      'apps',
      'libs',
      'scripts',
      'bench',
    ),
  },
  { name: 'dead exports', program: bin('knip/bin/knip.js', '--no-progress') },
  { name: 'api description', program: [join(DIST, 'apps', 'api', 'src', 'openapi', 'write-docs.js'), '--check'] },
  {
    name: 'api description lint',
    program: bin(
      '@redocly/cli/bin/cli.js',
      'lint',
      ...['openapi', 'platform-openapi', 'admin-openapi'].map((name) => join('docs', `${name}.json`)),
    ),
    env: { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  },
  { name: 'licences', program: [join(ROOT, 'scripts', 'sbom.mjs'), '--check'] },
  { name: 'lock file', program: [join(ROOT, 'scripts', 'lockfile.mjs')] },
  { name: 'settings and chart', program: [join(ROOT, 'scripts', 'chart.mjs')] },
  { name: 'database structure', program: [join(ROOT, 'scripts', 'structure.mjs')] },
];
const SIDE_BY_SIDE = 2;
const HELP = `npm run check    ${CHECKS.map(({ name }) => name).join(', ')}`;

/** @param {import('./lib/command/scope.mjs').Scope} scope */
async function main(scope) {
  readFlags(HELP, {});
  await setUp(scope);
  const waiting = [...CHECKS];
  /** @type {string[]} */
  const failed = [];
  const runSome = async () => {
    for (let check = waiting.shift(); check; check = waiting.shift()) {
      if (!(await passes(scope, check))) failed.push(check.name);
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, runSome));
  say(failed.length === 0 ? 'All checks pass.' : `Failed: ${failed.join(', ')}.`);
  return failed.length === 0 ? 0 : 1;
}

/**
 * @param {import('./lib/command/scope.mjs').Scope} scope
 * @param {Check} check
 */
async function passes(scope, { name, program, env }) {
  const startedAt = performance.now();
  const { code, output } = await runTool(scope, process.execPath, program, {
    cwd: ROOT,
    env: { ...process.env, ...env },
  });
  const time = duration(performance.now() - startedAt);
  say(`  ${code === 0 ? '✓' : '✗'} ${name}  ${time}`);
  if (code !== 0) say(`\n${output.trim()}\n`);
  return code === 0;
}

/**
 * @param {string} script a package's program
 * @param {...string} args
 */
function bin(script, ...args) {
  return [join(MODULES, ...script.split('/')), ...args];
}

await runCommand(main);
