import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(__dirname, '..', '..');
const PRINT_LOADED = join(ROOT, 'scripts', 'lib', 'testing', 'print-loaded.js');
const PRINT_COMPILED = join(ROOT, 'scripts', 'lib', 'testing', 'print-compiled.js');
const PRINT_OLD_BYTES = join(ROOT, 'scripts', 'lib', 'testing', 'print-old-bytes.js');
const FAIL_AT_BOOT = join(ROOT, 'scripts', 'lib', 'testing', 'fail-at-boot.js');
const LIMIT_MS = 300_000;

interface Packages {
  '@nestjs/common': typeof import('@nestjs/common');
}

/** The packages that a bundle leaves in node_modules, with those that they load in turn. */
const OUTSIDE =
  /^node_modules\/(@prisma\/client(-runtime-utils)?|\.prisma|@napi-rs\/blake-hash.*|piscina|sharp|@img|detect-libc|semver)\//;

/** A program that has to fail. */
async function failed(args: string[]): Promise<{ stderr: string }> {
  return run(process.execPath, args, { env: { PATH: process.env.PATH } }).then(
    () => Promise.reject(new Error(`${args.join(' ')} did not fail`)),
    (error: { stderr: string }) => error,
  );
}

/** A frame at the line of the source that has this text. */
function traceThrough(source: string, text: string): RegExp {
  const lines = readFileSync(join(ROOT, source), 'utf8').split('\n');
  const at = `${join(ROOT, source)}:${lines.findIndex((line) => line.includes(text)) + 1}:`;
  return new RegExp(at.replaceAll('.', '\\.'));
}

/** What a process prints, with `preload` loaded before it, until it finds that it has no settings: it has imported all by then. */
async function printedBy(role: string, preload: string, env: Record<string, string> = {}): Promise<string> {
  return run(process.execPath, ['--require', preload, join(ROOT, 'dist', 'bin', `${role}.js`)], {
    env: { PATH: process.env.PATH, ...env },
  }).then(
    () => Promise.reject(new Error(`${role} ran without settings`)),
    (error: { stdout: string }) => error.stdout,
  );
}

async function loadedBy(role: string): Promise<string[]> {
  const ended = await printedBy(role, PRINT_LOADED);
  const files = JSON.parse(ended.trim().split('\n').at(-1) ?? '') as string[];
  return files.map((file) => relative(ROOT, file)).filter((file) => file !== relative(ROOT, PRINT_LOADED));
}

describe('the bundles that processes are started from', () => {
  jest.setTimeout(LIMIT_MS);

  it.each(['api', 'worker', 'maintenance'])(
    '%s loads its bundle, the packages, and what has to stay outside',
    async (role) => {
      const files = await loadedBy(role);
      expect(files.filter((file) => file.startsWith('dist')).sort()).toEqual(
        [`dist/bin/${role}.js`, 'dist/bin/packages.js'].sort(),
      );
      expect(files.filter((file) => !file.startsWith('dist') && !OUTSIDE.test(file))).toEqual([]);
    },
  );

  it.each([
    ['api', 'apps/api/src/open-listeners.ts', 'export async function openListeners('],
    ['worker', 'apps/worker/src/worker.ts', 'export class PoolWorker '],
    ['maintenance', 'libs/database/src/database.ts', 'export class Database '],
    ['examination.thread', 'libs/jobs/src/examination/examination.thread.ts', 'export function examineInThread('],
  ])('a stack trace of %s names %s and its line', (name, source, text) => {
    const built = readFileSync(join(ROOT, 'dist', 'bin', `${name}.js`), 'utf8').split('\n');
    const map = new SourceMap(
      JSON.parse(readFileSync(join(ROOT, 'dist', 'bin', `${name}.js.map`), 'utf8')) as SourceMapPayload,
    );
    const declaration = text.replace('export ', '');
    const line = built.findIndex((candidate) => candidate.includes(declaration));
    const found = map.findEntry(line, (built[line] ?? '').indexOf(declaration));
    if (!('originalSource' in found)) throw new Error(`${declaration} is not in the map of ${name}`);
    expect(found.originalSource).toBe(`../../${source}`);
    expect(readFileSync(join(ROOT, source), 'utf8').split('\n')[found.originalLine]).toContain(declaration);
  });

  it.each([
    ['api', 'apps/api/src/main.ts'],
    ['worker', 'apps/worker/src/main.ts'],
    ['maintenance', 'apps/maintenance/src/main.ts'],
    ['fleet', 'apps/fleet/src/main.ts'],
    ['gateway', 'apps/gateway/src/main.ts'],
  ])('an error that ends %s is printed with the lines of the sources', async (role, main) => {
    const { stderr } = await failed(['--require', FAIL_AT_BOOT, join(ROOT, 'dist', 'bin', `${role}.js`)]);
    expect(stderr).toMatch(traceThrough('libs/platform/src/boot.ts', 'process.stdout.on('));
    expect(stderr).toMatch(traceThrough(main, 'runMain('));
  });

  it('an error in the thread that checks submissions names the lines of the sources', async () => {
    const thread = join(ROOT, 'dist', 'bin', 'examination.thread.js');
    const work = `require('${thread}').examineInThread(null)`;
    const options = `{ eval: true, execArgv: ['--enable-source-maps'] }`;
    const { stderr } = await failed(['-e', `new worker_threads.Worker(${JSON.stringify(work)}, ${options})`]);
    expect(stderr).toMatch(traceThrough('libs/jobs/src/examination/examination.thread.ts', 'examineInThread({'));
  });

  it.each([
    ['libs/platform/src/boot.ts', ['api', 'worker', 'maintenance', 'fleet', 'gateway']],
    ['apps/api/src/main.ts', ['api']],
    ['apps/worker/src/main.ts', ['worker']],
    ['libs/jobs/src/examination/examination.thread.ts', ['examination.thread']],
    ['libs/cpu-engine/src/process/process-entry.ts', ['process-entry']],
  ])('a change of %s makes the bundles %j again, and no other', (source, names) => {
    const { bundles } = JSON.parse(readFileSync(join(ROOT, 'dist', 'bin', '.bundles.json'), 'utf8')) as {
      bundles: Record<string, { sources: string[] }>;
    };
    expect(Object.keys(bundles).filter((name) => bundles[name]?.sources.includes(source))).toEqual(names);
  });

  it.each<[string, Record<string, string>]>([
    ['without a flag', {}],
    ['under the heap limit that the chart sets', { NODE_OPTIONS: '--max-old-space-size=460' }],
  ])('the packages are not compiled again %s', async (_, env) => {
    expect(await printedBy('api', PRINT_COMPILED, env)).toContain('{"rejected":false}');
  });

  it.each(['api', 'worker', 'maintenance', 'fleet', 'gateway'])(
    '%s makes short-lived objects among the young ones, also where it made objects that it has kept',
    async (role) => {
      const ended = await printedBy(role, PRINT_OLD_BYTES);
      const { old, made } = JSON.parse(ended.trim().split('\n').at(-1) ?? '') as { old: number; made: number };
      expect(old / made).toBeLessThan(1);
    },
  );

  it('the packages are kept in memory with one byte for each character', () => {
    const source = readFileSync(join(ROOT, 'dist', 'bin', 'packages.bundle.js'));
    expect(source.every((byte) => byte < 0x80)).toBe(true);
  });

  it('a class is called as in its source, though the packages share one file', () => {
    const packages = jest.requireActual<Packages>(join(ROOT, 'dist', 'bin', 'packages.js'));
    const { ValidationPipe, ConsoleLogger } = packages['@nestjs/common'];
    expect([ValidationPipe.name, ConsoleLogger.name]).toEqual(['ValidationPipe', 'ConsoleLogger']);
  });
});
