import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { createTestDatabase, eventually, testRedisUrl, testS3, type TestDatabase } from '@millrace/testing';
import type { Statement } from '../../scripts/lib/setup/provenance.mjs';
import { onDatabase } from '../../scripts/lib/prisma/on-database.mjs';
import { commandOf, instructionsOf, lastOf, readStages } from './support/dockerfile';

const run = promisify(execFile);
const ROOT = join(__dirname, '..', '..');
const stages = readStages(join(ROOT, 'docker', 'Dockerfile'));
const LIMIT_MS = 300_000;
const PROCESSES = ['api', 'worker', 'maintenance', 'fleet', 'gateway'];
const IMAGES = [...PROCESSES, 'setup'];
const REVISION = 'c'.repeat(40);
/** What the consoles are built from and the processes do not need: the image has it in their built files. */
const IN_CONSOLES = [
  '@babel/runtime',
  '@base-ui/react',
  '@base-ui/utils',
  '@dagrejs/dagre',
  '@dagrejs/graphlib',
  '@floating-ui/core',
  '@floating-ui/dom',
  '@floating-ui/react-dom',
  '@floating-ui/utils',
  '@noble/hashes',
  '@tanstack/history',
  '@tanstack/query-core',
  '@tanstack/react-query',
  '@tanstack/react-router',
  '@tanstack/react-store',
  '@tanstack/react-virtual',
  '@tanstack/router-core',
  '@tanstack/store',
  '@tanstack/virtual-core',
  '@xyflow/react',
  '@xyflow/system',
  'classcat',
  'cookie-es',
  'd3-color',
  'd3-dispatch',
  'd3-drag',
  'd3-ease',
  'd3-interpolate',
  'd3-selection',
  'd3-timer',
  'd3-transition',
  'd3-zoom',
  'isbot',
  'minisearch',
  'react',
  'react-dom',
  'reselect',
  'scheduler',
  'seroval',
  'seroval-plugins',
  'use-sync-external-store',
  'zustand',
];

let out: string;
let test: TestDatabase;
let env: NodeJS.ProcessEnv;
const running: ChildProcess[] = [];

/** A command of an image, as the machine's own Node runs it in the folder that the image has as /app. */
function inImage(command: string[]): [string, string[]] {
  const [program, ...args] = command;
  if (program !== 'node') throw new Error(`an image begins with ${program}`);
  return [process.execPath, args];
}

/** Outside of the checkout, so that no package is found there that the image does not have. */
beforeAll(async () => {
  out = mkdtempSync(join(tmpdir(), 'millrace-images-'));
  chmodSync(out, 0o755);
  const from = ['--revision', REVISION, '--base', 'node:24@sha256:0'];
  await run(process.execPath, [join(ROOT, 'scripts', 'package.mjs'), '--link', '--out', out, ...from]);
  test = await createTestDatabase(2);
  const s3 = testS3();
  env = {
    PATH: [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
    NODE_ENV: 'production',
    REDIS_URL: testRedisUrl(),
    S3_BUCKET: `images-${randomBytes(6).toString('hex')}`,
    S3_ENDPOINT: s3.endpoint,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    MILLRACE_POOL: `images-${randomBytes(6).toString('hex')}`,
    MILLRACE_SECRET_KEY: randomBytes(32).toString('base64'),
    MILLRACE_ADMIN_TOKEN: randomBytes(16).toString('hex'),
    MILLRACE_DRAIN_SECONDS: '1',
    MILLRACE_PORT: '0',
    MILLRACE_OPS_PORT: '0',
  };
});

afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await onDatabase(test.url, (client) => client.query(`DROP DATABASE IF EXISTS ${absent}`));
  await test.drop();
  rmSync(out, { recursive: true, force: true });
});

/** Name and version of each package below a folder, those inside of others too. */
function packagesIn(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join('node_modules', file));
  return files
    .filter((file) => /(^|\/)node_modules\/(@[^/]+\/[^/]+|[^@./][^/]*)\/package.json$/.test(file))
    .map((file) => JSON.parse(readFileSync(join(dirname(folder), file), 'utf8')) as { name: string; version: string })
    .map(({ name, version }) => `${name}@${version}`);
}

/** The name of a database that is not there yet. */
const absent = `absent_${randomBytes(8).toString('hex')}`;

interface Started {
  child: ChildProcess;
  port: number;
  opsPort: number;
}

async function start(target: string): Promise<Started> {
  const [program, args] = inImage(commandOf(lastOf(instructionsOf(stages, target), 'CMD')));
  const child = spawn(program, args, {
    cwd: join(out, target),
    env: { ...env, DATABASE_URL: test.url, MILLRACE_WORK_DIR: join(out, 'work', 'attempts') },
  });
  running.push(child);
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (log += text.toString()));
  const serving = (): string | undefined => log.split('\n').find((line) => line.includes('"opsPort"'));
  await eventually(
    `${target} serves`,
    () => {
      if (child.exitCode !== null) throw new Error(log);
      return serving() !== undefined;
    },
    LIMIT_MS,
  );
  return { child, ...(JSON.parse(serving() ?? '{}') as { port: number; opsPort: number }) };
}

describe('what the images hold', () => {
  jest.setTimeout(LIMIT_MS);
  const setup = (...command: string[]): ReturnType<typeof run> => {
    const [program, args] = inImage(command);
    return run(program, args, { cwd: join(out, 'setup'), env });
  };

  it('makes and migrates a database by the command of the image, however many of them run at once', async () => {
    const command = commandOf(lastOf(instructionsOf(stages, 'setup'), 'CMD'));
    const url = new URL(test.url);
    url.pathname = `/${absent}`;
    env.DATABASE_URL = url.href;
    const runs = await Promise.all([setup(...command), setup(...command)]);
    // One of them may say before that it waits for the other.
    expect(runs.map(({ stdout }) => String(stdout).trimEnd().split('\n').at(-1))).toEqual(
      Array<string>(2).fill('The database is at the schema of this version.'),
    );
  });

  it.each(IMAGES)('is listed in %s with hashes and licences: each package, and nothing else', (image) => {
    interface Bill {
      components: { name: string; version: string; hashes?: unknown[]; licenses?: unknown[] }[];
    }
    const bill = JSON.parse(readFileSync(join(out, image, 'sbom.cdx.json'), 'utf8')) as Bill;
    const listed = bill.components.map(({ name, version }) => `${name}@${version}`);
    const held = packagesIn(join(out, image, 'node_modules'));
    expect(held.filter((each) => !listed.includes(each))).toEqual([]);
    // What is bundled, and what the consoles were built from, is there without its folder.
    const built = listed.filter((each) => !held.includes(each)).map((each) => each.replace(/@[^@]+$/, ''));
    const has = (name: string): boolean => built.includes(name);
    expect(IN_CONSOLES.filter(has)).toEqual(image === 'api' ? IN_CONSOLES : []);
    expect([has('@nestjs/core'), has('openid-client')]).toEqual([image !== 'setup', image === 'api']);
    expect(bill.components.filter(({ hashes, licenses }) => hashes === undefined || licenses === undefined)).toEqual(
      [],
    );
    expect(
      readFileSync(join(out, image, 'licences.txt'), 'utf8')
        .trim()
        .split('\n'),
    ).toHaveLength(listed.length);
  });

  it.each(IMAGES)(
    'says in %s what it was made from: the commit, the lock file, the image below, and each file',
    (image) => {
      const text = readFileSync(join(out, image, 'provenance.json'), 'utf8');
      const { subject, predicate } = JSON.parse(text) as Statement;
      const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');
      expect(subject.filter(({ name, digest }) => digest.sha256 !== sha256(join(out, image, name)))).toEqual([]);
      const own = readdirSync(join(out, image), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(join(out, image), join(entry.parentPath, entry.name)))
        .filter((name) => !name.startsWith('node_modules') && name !== 'provenance.json');
      expect(subject.map(({ name }) => name)).toEqual(own.sort());
      expect(predicate.buildDefinition).toMatchObject({
        externalParameters: { image },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: REVISION } },
          { name: 'package-lock.json', digest: { sha256: sha256(join(ROOT, 'package-lock.json')) } },
          { name: 'base image', uri: 'docker://node:24@sha256:0' },
        ],
      });
    },
  );

  it('is not laid out for a commit that is none', async () => {
    const args = ['--out', join(out, 'nowhere'), '--revision', 'main'];
    await expect(run(process.execPath, [join(ROOT, 'scripts', 'package.mjs'), ...args])).rejects.toThrow(
      '--revision must be the whole name of a commit',
    );
  });

  it('has consoles and the command line in the image of the api, and in no other', async () => {
    const withPages = IMAGES.filter((image) => existsSync(join(out, image, 'dist', 'console', 'index.html')));
    const command = join('dist', 'apps', 'cli', 'src', 'main.js');
    const withCommand = IMAGES.filter((image) => existsSync(join(out, image, command)));
    expect([withPages, withCommand]).toEqual([['api'], ['api']]);
    const [program, args] = inImage(['node', command, 'admin', '--help']);
    const { stdout } = await run(program, args, { cwd: join(out, 'api'), env });
    expect(stdout).toContain('create-account');
    expect(readdirSync(join(out, 'worker', 'dist'))).toEqual(['bin']);
  });

  it.each(PROCESSES)('starts %s from one file and packages that it has', async (image) => {
    // Without settings it says so, once all of its code is loaded.
    const started = run(process.execPath, [join('dist', 'bin', `${image}.js`)], {
      cwd: join(out, image),
      env: { PATH: env.PATH },
    });
    const { stdout = '', stderr = '' } = await started.then(
      () => Promise.reject(new Error(`${image} ran without settings`)),
      (error: { stdout?: string; stderr?: string }) => error,
    );
    expect(`${stdout}${stderr}`).toContain('DATABASE_URL');
    expect(`${stdout}${stderr}`).not.toContain('MODULE_NOT_FOUND');
  });

  it('makes the bucket, and leaves one that is there', async () => {
    for (const _ of ['made', 'found']) {
      const { stdout } = await setup('node', 'scripts/make-bucket.mjs');
      expect(String(stdout)).toBe(`The bucket ${env.S3_BUCKET} is there.\n`);
    }
  });

  it('serves, runs a job, reports its health and stops, by the commands of the images', async () => {
    const [api, ...others] = await Promise.all(['api', 'worker', 'maintenance'].map(start));
    if (api === undefined) throw new Error('no api');
    const [program, args] = inImage(commandOf(lastOf(instructionsOf(stages, 'api'), 'HEALTHCHECK')));
    await run(program, args, { env: { ...env, MILLRACE_OPS_PORT: String(api.opsPort) } });
    const nobody = run(program, args, { env: { ...env, MILLRACE_OPS_PORT: '1' } });
    await expect(nobody).rejects.toMatchObject({ code: 1 });

    const script = join(ROOT, 'helm', 'millrace', 'files', 'test-job.mjs');
    const { stdout } = await run(process.execPath, [script], {
      env: {
        SURFACE: 'cloud',
        PUBLIC_URL: `http://127.0.0.1:${api.port}`,
        OPS_URL: `http://127.0.0.1:${api.opsPort}`,
        ADMIN_TOKEN: env.MILLRACE_ADMIN_TOKEN,
      },
    });
    expect(stdout).toMatch(/^\S+ succeeded\n$/);
    const storage = await run(process.execPath, ['dist/apps/maintenance/src/verify-storage.js'], {
      cwd: join(out, 'maintenance'),
      env: { ...env, DATABASE_URL: test.url },
    });
    expect(storage.stdout).toBe('1 sound, 0 stray, 0 lost, 0 corrupt.\n');

    for (const { child } of [api, ...others]) {
      child.kill('SIGTERM');
      await once(child, 'exit');
      expect(child.exitCode).toBe(0);
    }
  });
});
